// Which registries and which server a command of `moorage auth` is about.
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import type { ServerFlags } from "../command/global-options.ts";
import { loginOfRegistry, readLogins } from "../credentials.ts";
import { trustStored } from "../http/trust.ts";
import { namedServer } from "../sign-ins.ts";

/** The host[:port] in the names of a registry's images. Throws a UsageFailure for anything else. */
export function registryName(text: string): string {
  const name = text
    .replace(/^https?:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();
  const isHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/.test(name);
  if (!isHost)
    throw new UsageFailure(`must look like registry.example.com or registry.example.com:5000, not ${text}`, {
      field: "REGISTRY",
    });
  return name;
}

/**
 * The registries that were named; without any that of the server that was named; without that, those of all
 * sign-ins. Throws a Failure when there is none.
 */
export async function registriesOf(named: readonly string[], flags: ServerFlags): Promise<string[]> {
  if (named.length > 0) return [...new Set(named.map(registryName))];
  const logins = readLogins();
  const server = namedServer(flags);
  if (server !== undefined) {
    await trustStored(`the sign-in to ${server}`, logins[server]?.caFile);
    const { registryHost } = await import("../registry-host.ts");
    return [logins[server]?.registry ?? (await registryHost(server))];
  }
  const found = Object.entries(logins).map(([login, { registry }]) => registry ?? new URL(login).host);
  if (found.length === 0)
    throw new Failure("not signed in to any server", {
      exit: EXIT.notSignedIn,
      hint: "name a registry, or moorage login --url <url>",
    });
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
