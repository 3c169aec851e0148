// The server of ../server-process.ts from its sources, and not from the bundle: so that what forget-keys.ts changes is
// what its threads run.
import "../server-process.ts";
