import type { Logger } from "pino";
import { removeOrphanedTempFolders } from "@moorage/kernel/lib/temp-folders";

/** Removes the temporary folders that servers left which were killed. The start does not depend on it. */
export async function cleanTempFolder(log: Logger): Promise<void> {
  try {
    const folders = await removeOrphanedTempFolders();
    if (folders.length > 0) log.info({ folders }, "removed temporary folders of processes that were killed");
  } catch (error) {
    log.warn({ err: error }, "temporary folders of processes that were killed could not be removed");
  }
}
