"""The start of a job on a fabric: hostfiles, commands and files for Open MPI, Slurm and Kubernetes."""
