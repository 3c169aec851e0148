import { SILENT } from "../../src/admin/progress.ts";
import { checkInstallation } from "../../src/index.ts";

/** What `moorage fsck` finds, each as its kind and the number of rows that it left. */
export async function foundBy(
  config: Parameters<typeof checkInstallation>[0],
  { repair }: { repair: boolean },
): Promise<string[]> {
  const { findings } = await checkInstallation(config, { repair, deep: true }, SILENT);
  return findings.map(({ kind, left }) => `${kind} ${left}`);
}
