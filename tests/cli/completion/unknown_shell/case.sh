dolium completion fish
