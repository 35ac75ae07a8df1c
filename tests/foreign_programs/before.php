<?php // What an application has when the recipe's code runs.
require 'libphp-phpmailer/autoload.php';

$order = (object) ['id' => getenv('ORDER'), 'email' => 'pat@example.com'];
