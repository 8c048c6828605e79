"""What the subcommands of ``dogc`` do, without the terminal around them."""
