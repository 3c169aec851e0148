import { ConfigError } from "./error.ts";
import { requireKnown } from "./variables.ts";
import { type DATABASE_TLS, type Setting, SETTINGS, TABLE } from "./settings.ts";

type DatabaseTls = (typeof DATABASE_TLS)[number];

type Table = typeof TABLE;
type Read = { [K in keyof Table]: Table[K] extends Setting<infer T> ? T : never };

/** All settings, with values derived from them. */
export interface Config extends Omit<Read, "databaseTls" | "blobsRedirect"> {
  /** The registry's audience: host[:port] of registryUrl. */
  registryAudience: string;
  /** Whether addresses in answers have the host that a client called, because no URL was set. */
  followsHost: { platform: boolean; registry: boolean };
  databaseTls: DatabaseTls;
}

/** The variable of a setting, e.g. `MOORAGE_DATA_DIR`. */
export function variableOf(key: keyof Table): string {
  return TABLE[key].name;
}

/** A ConfigError that names the setting, for problems found after its value was read. */
export function settingError(key: keyof Table, problem: string, options?: ErrorOptions): ConfigError {
  return new ConfigError(`${TABLE[key].name}: ${problem}`, options);
}

/**
 * Reads the settings. An empty value counts as not set. Throws a ConfigError for the first invalid one, and for
 * variables that look like settings and are none.
 */
export function loadConfig(
  env: Record<string, string | undefined>,
  overrides: Record<string, string | undefined> = {},
): Config {
  const unknown = Object.keys(overrides).find((name) => !SETTINGS.some((setting) => setting.name === name));
  if (unknown !== undefined) throw new ConfigError(`${unknown}: no such setting`);
  requireKnown(env);
  const read = Object.fromEntries(
    Object.entries(TABLE).map(([key, { name, fallback, kind }]) => [
      key,
      kind(overrides[name] || env[name] || fallback, name),
    ]),
    // Each value was read by the kind of its key.
  ) as Read;
  const { blobsRedirect, blobsRedirectTtlMs, databaseTls, ...rest } = read;
  const config: Config = {
    ...rest,
    registryAudience: "",
    followsHost: { platform: read.baseUrl === "", registry: read.baseUrl === "" && read.registryUrl === "" },
    blobsRedirectTtlMs: blobsRedirect ? blobsRedirectTtlMs : 0,
    databaseTls: databaseTls === "" ? defaultTls(rest.databaseUrl) : databaseTls,
  };
  if ((config.tlsCert === "") !== (config.tlsKey === ""))
    throw settingError(config.tlsCert === "" ? "tlsCert" : "tlsKey", "must be set as well");
  if (config.blobsInternalPath !== "" && config.blobsUrl !== "")
    throw settingError("blobsInternalPath", "is for files in the data folder: on an S3 server there are none");
  if (config.blobsInternalPath !== "" && config.trustedProxies.length === 0)
    throw settingError("blobsInternalPath", `needs ${TABLE.trustedProxies.name}, the proxy that sends the files`);
  if (config.organization === config.publicOrganization)
    throw settingError("publicOrganization", `must differ from ${TABLE.organization.name}`);
  return config.port === 0 ? config : withUrls(config, config.port);
}

/** Fills in the URLs that were not set, once the port is known. Throws a ConfigError when the audiences are equal. */
export function withUrls(config: Config, port: number): Config {
  const bare = config.host === "0.0.0.0" || config.host === "::" ? "127.0.0.1" : config.host;
  const own = `${config.tlsCert === "" ? "http" : "https"}://${bare.includes(":") ? `[${bare}]` : bare}:${port}`;
  const baseUrl = config.baseUrl || own;
  const registryUrl = config.registryUrl || baseUrl;
  const registryAudience = new URL(registryUrl).host;
  if (registryAudience === baseUrl)
    throw settingError("registryUrl", "the registry's audience must differ from the platform's");
  return { ...config, port, baseUrl, registryUrl, registryAudience };
}

function defaultTls(databaseUrl: string): DatabaseTls {
  const host = URL.parse(databaseUrl)?.hostname ?? "";
  return host === "" || host === "localhost" || host.startsWith("127.") || host === "[::1]" ? "disable" : "verify-full";
}
