"""Is one bot better than another? arena compare, harness.compare and the format they play."""
