import type { Logger } from "pino";
import type { Config } from "../config/index.ts";
import { bringUp, type OpenedInstallation, openInstallation, takeDataDir } from "../installation/open.ts";
import type { Clock } from "../lib/clock.ts";
import { type Observation, openObservation } from "../observe/index.ts";
import { openStore, type Store } from "../store/index.ts";
import type { Health } from "./health.ts";
import { cleanTempFolder } from "./orphaned-folders.ts";
import type { Shutdown } from "./shutdown.ts";

/** The observation, store and installation that all other parts use. */
export interface Base extends OpenedInstallation {
  observation: Observation;
  store: Store;
}

export interface BaseOptions {
  clock: Pick<Clock, "nowMs">;
  log: Logger;
  health: Health;
  /** Whether another process has locked the data folder and brought the database to the newest version. */
  prepared: boolean;
}

/** Locks the data folder, opens the database of the settings, and creates what the installation lacks. */
export async function openBase(
  settings: Config,
  { clock, log, health, prepared }: BaseOptions,
  shutdown: Shutdown,
): Promise<Base> {
  const lock = prepared ? undefined : takeDataDir(settings.dataDir);
  shutdown.at("data folder", () => lock?.release());
  if (!prepared) await cleanTempFolder(log);
  const observation = await openObservation(settings, log);
  shutdown.at("observation", () => observation.close());
  const store = await openStore({
    ...settings,
    log: (err, message) => log.warn({ err }, message),
    onDamage: health.damaged,
    onRetry: (kind) => observation.database.retried(kind),
  });
  shutdown.at("store", () => store.close());
  if (!prepared) await bringUp(store, clock.nowMs());
  return { observation, store, ...(await openInstallation(store, settings, clock.nowMs())) };
}
