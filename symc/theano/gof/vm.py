"""`theano.gof.vm`: the name of Theano's virtual machine, in whose place is symc's program."""

from symc.theano.gof.link import VM_Linker as VM_Linker
