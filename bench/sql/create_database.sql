CREATE DATABASE {name} OWNER {owner} TEMPLATE template0
