"""Tournament formats, one file each: which bots meet at which table, in which seats, with which deal."""
