// A server in a process of its own, for tests that kill it. Prints its URL on one line when it listens.
import { loadConfig, startServer } from "../../src/index.ts";

const server = await startServer(loadConfig({ ...process.env, MOORAGE_PORT: "0", MOORAGE_LOG_LEVEL: "silent" }));
console.log(server.url);
