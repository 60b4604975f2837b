"""`theano.version`: the version of Theano whose interface this is."""

version = full_version = short_version = "1.0.5"
release = True
git_revision = ""
