"""Ways of playing many matches, in this process or in worker processes. Each makes the same records."""
