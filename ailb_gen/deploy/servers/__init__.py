"""Push the files of GPU servers over SSH, with a way back that the host itself takes without a confirmation."""
