// Servers on data folders, in one process and with one writer thread.
import { pino } from "pino";
import { loadConfig, startServer } from "../../src/index.ts";
import { beginMigrated } from "./database.ts";
import { shareWriter } from "./shared-writer.ts";

shareWriter();

/** Starts a server without a log. `env` has its settings by their variables, MOORAGE_DATA_DIR among them. */
export async function startHere(env: NodeJS.ProcessEnv): ReturnType<typeof startServer> {
  const config = loadConfig(env);
  beginMigrated(config.dataDir);
  return await startServer(config, { log: pino({ level: "silent" }) });
}
