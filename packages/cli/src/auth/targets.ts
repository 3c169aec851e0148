// Which registries and which server a command of `moorage auth` is about.
import { loginOfRegistry, readLogins } from "../credentials.ts";
import { namedServer } from "../sign-ins.ts";

/** The host[:port] in the names of a registry's images. Throws an Error for anything else. */
export function registryName(text: string): string {
  const name = text
    .replace(/^https?:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();
  const isHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/.test(name);
  if (!isHost)
    throw new Error(`REGISTRY: must look like registry.example.com or registry.example.com:5000, not ${text}`);
  return name;
}

/**
 * The registries that were named; without any that of the server of --url or MOORAGE_URL; without that, those of all
 * sign-ins. Throws an Error when there is none.
 */
export async function registriesOf(named: readonly string[], url: string | undefined): Promise<string[]> {
  if (named.length > 0) return [...new Set(named.map(registryName))];
  const logins = readLogins();
  const server = namedServer(url);
  if (server !== undefined) {
    const { registryHost } = await import("../registry-host.ts");
    return [logins[server]?.registry ?? (await registryHost(server))];
  }
  const found = Object.entries(logins).map(([login, { registry }]) => registry ?? new URL(login).host);
  if (found.length === 0)
    throw new Error("REGISTRY: is required, since there is no sign-in on this machine: moorage login --url <url>");
  return [...new Set(found)];
}

/** Says when nobody is signed in to a registry: then the helper has credentials in a CI job alone. */
export function warnOfMissing(registries: readonly string[]): void {
  const logins = readLogins();
  for (const registry of registries)
    if (loginOfRegistry(registry, logins) === undefined)
      console.error(
        `moorage: not signed in to the server of ${registry} yet: moorage login --url <url>; a CI job needs no sign-in`,
      );
}
