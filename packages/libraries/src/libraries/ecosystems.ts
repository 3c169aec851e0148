import { addEcosystem, addTask } from "./ecosystem/lookup.ts";
import { maven } from "./maven/ecosystem.ts";
import { npm } from "./npm/ecosystem.ts";
import { pypi } from "./pypi/ecosystem.ts";
import type { ServedEcosystem } from "./requests/protocol.ts";
import { divideKept, readArrived } from "./upstreams/tasks.ts";

/** The ecosystems of every server, by what their part of the URL is called: the only list of them. */
export const ECOSYSTEMS = { npm, pypi, maven } as const satisfies Readonly<Record<string, ServedEcosystem>>;

export type EcosystemKey = keyof typeof ECOSYSTEMS;

for (const each of [readArrived, divideKept]) addTask(each);
for (const each of Object.values(ECOSYSTEMS)) addEcosystem(each);

const loaded = new Map<string, ServedEcosystem>();

/**
 * Loads further ecosystems, each the export `ecosystem` of the module with this URL, in this process or thread. A
 * second call for the same changes nothing.
 */
export async function loadEcosystems(urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    if (loaded.has(url)) continue;
    const { ecosystem } = (await import(url)) as { ecosystem: ServedEcosystem };
    addEcosystem(ecosystem);
    loaded.set(url, ecosystem);
  }
}

/** The ecosystems of a server that was started with these further ones, which are loaded. */
export function ecosystemsWith(urls: readonly string[]): readonly ServedEcosystem[] {
  const further = urls.map((url) => {
    const ecosystem = loaded.get(url);
    if (ecosystem === undefined) throw new Error(`the ecosystem at ${url} is not loaded`);
    return ecosystem;
  });
  return [...Object.values(ECOSYSTEMS), ...further];
}
