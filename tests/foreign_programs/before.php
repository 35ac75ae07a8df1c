<?php // What an application has when the recipe's code runs.
require 'libphp-phpmailer/autoload.php';

$order = (object) ['id' => 9, 'email' => 'pat@example.com'];
