// Load for an injection webhook; Go's own library alone.
module fairlead.dev/tools/injectload

go 1.26.0
