//go:build tools

// Package tools names the program that scripts/setup.sh builds from this module.
package tools

import _ "github.com/hashicorp/consul"
