# What a Rails application has when the recipe's code runs.
require "action_mailer"

order = Struct.new(:id, :email).new(ENV.fetch("ORDER"), "pat@example.com")
