import type { Config } from "@moorage/kernel/config";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Observation, openObservation } from "@moorage/kernel/observe";
import { openStore, type Store } from "@moorage/kernel/store";
import type { Logger } from "pino";
import { METRICS } from "../areas.ts";
import { bringUp, type OpenedInstallation, openInstallation, takeDataDir } from "../installation/open.ts";
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
  const observation = await openObservation(settings, log, METRICS);
  health.measure(observation.storage);
  shutdown.at("observation", () => observation.close());
  shutdown.at("observation", () => health.close());
  const store = await openStore({
    ...settings,
    log: (err, message) => log.warn({ err }, message),
    onDamage: health.damaged,
    onFault: health.storage.noted,
    onRetry: (kind) => observation.database.retried(kind),
  });
  shutdown.at("store", () => store.close());
  if (!prepared) await bringUp(store, clock.nowMs());
  return { observation, store, ...(await openInstallation(store, settings, clock.nowMs())) };
}
