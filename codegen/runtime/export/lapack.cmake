find_package(LAPACK REQUIRED)
target_link_libraries(@name@ PUBLIC LAPACK::LAPACK)
