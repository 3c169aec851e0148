// A module of a pool whose children die before they take tasks.
process.exit(3);
