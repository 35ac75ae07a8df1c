"""What callers write and hear, whatever the way in: shapes, their commands, problem documents."""
