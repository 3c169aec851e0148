import type { RateLimit } from "./lib/rate-limit.ts";

/**
 * Everything an operator can set. Flags of `moorage serve` set the same by their own spelling: `MOORAGE_DATA_DIR` is
 * `--data-dir`.
 */
export interface Config {
  host: string;
  port: number;
  dataDir: string;
  /** Where the platform API is reached, the issuer, and the platform's audience; no slash at the end. */
  baseUrl: string;
  /** Where the registry is reached; no slash at the end. */
  registryUrl: string;
  /** The registry's audience: host[:port] of registryUrl. */
  registryAudience: string;
  organization: string;
  publicOrganization: string;
  freeTierTags: string[];
  historySegments: string[];
  grpcPackageAliases: string[];
  errorDomain: string;
  admins: string[];
  tlsCert: string;
  tlsKey: string;
  allowPrivateNetwork: boolean;
  trustedProxies: string[];
  /** Of each identity, and of each client address, in each process. Undefined: no limit. */
  rateLimitIdentity: RateLimit | undefined;
  rateLimitAddress: RateLimit | undefined;
  /** Where a console of another address may have people sent back to who sign in. */
  oauthRedirectUris: string[];
  logLevel: string;
  maxManifestBytes: number;
  maxJsonBytes: number;
  accessTokenTtlMs: number;
  registryTokenTtlMs: number;
  uploadTtlMs: number;
  signingKeyAgeMs: number;
  /** Zero: garbage is collected by command alone. */
  gcIntervalMs: number;
  gcGraceMs: number;
  auditRetentionMs: number;
  /** What event types begin with, e.g. `dev.moorage`. */
  eventsPrefix: string;
  /** How long events and ended deliveries are kept. */
  eventsRetentionMs: number;
  /** How long after a failed try the next one is made, from the first on. After the last, a delivery is dead. */
  eventsRetryMs: number[];
  /** For one try, from the name to the end of the answer. */
  eventsTimeoutMs: number;
  /** Tries at the same time for one subscription; zero: this process sends no events. */
  eventsConcurrency: number;
  /** Whether pulls are events. */
  eventsPulls: boolean;
  /** Zero: this process copies no mirrors. */
  mirrorWorkers: number;
  /** Empty: no terms. */
  termsFile: string;
  /** Where accounts of other providers are checked: origins. */
  awsStsUrl: string;
  googleStsUrl: string;
  azureLoginUrl: string;
  drainTimeoutMs: number;
  /** Empty: SQLite in the data folder. */
  databaseUrl: string;
  /** Connections to PostgreSQL, for reads and for writes together. */
  databasePoolSize: number;
  databaseTimeoutMs: number;
  databaseTls: DatabaseTls;
  /** PEM file, or empty for the system's authorities. */
  databaseTlsCa: string;
  /** Empty: files in the data folder. */
  blobsUrl: string;
  /**
   * Zero: blobs are sent by the server itself. Otherwise the life of the presigned URL that a GET of a blob is
   * redirected to.
   */
  blobsRedirectTtlMs: number;
  /** Keys of 32 bytes: the first seals, all open. None: the key file of the data folder. */
  secretKeys: Uint8Array[];
  workers: number;
  logFormat: "json" | "text";
  /** Who may read /metrics. */
  metricsNetworks: string[];
  /** Where traces are sent, OTLP over HTTP; empty: none are made. */
  tracesUrl: string;
  /** Of how many requests a trace is kept, from 0 to 1, where the caller did not decide it. */
  tracesSample: number;
}

export type DatabaseTls = "disable" | "require" | "verify-full";

/** One setting: its default, what it means (with its unit), and whether its value must not be shown. */
export interface Setting {
  name: string;
  fallback: string;
  help: string;
  secret?: true;
}

/** The settings in the order in which they are documented. */
export const SETTINGS: readonly Setting[] = [
  { name: "MOORAGE_HOST", fallback: "127.0.0.1", help: "Address to listen on." },
  { name: "MOORAGE_PORT", fallback: "8080", help: "Port to listen on; 0 takes any free one." },
  { name: "MOORAGE_DATA_DIR", fallback: "./data", help: "Folder of the database and the blobs." },
  {
    name: "MOORAGE_BASE_URL",
    fallback: "",
    help: "URL under which clients reach the platform API. Default: the address listened on.",
  },
  {
    name: "MOORAGE_REGISTRY_URL",
    fallback: "",
    help: "URL under which clients reach the registry. Default: the base URL.",
  },
  { name: "MOORAGE_ORGANIZATION", fallback: "acme", help: "Name of the first organization, made at the first start." },
  {
    name: "MOORAGE_PUBLIC_ORGANIZATION",
    fallback: "public",
    help: "Name of the organization whose free-tier tags anybody may pull.",
  },
  {
    name: "MOORAGE_FREE_TIER_TAGS",
    fallback: "latest,latest-dev",
    help: "Tags of the public organization that anybody may pull, comma-separated.",
  },
  {
    name: "MOORAGE_HISTORY_SEGMENTS",
    fallback: "_service",
    help: "Path segments under which the tag history is served, comma-separated.",
  },
  {
    name: "MOORAGE_GRPC_PACKAGE_ALIASES",
    fallback: "",
    help: "Package prefixes under which the gRPC services are served as well, comma-separated.",
  },
  { name: "MOORAGE_ERROR_DOMAIN", fallback: "moorage.dev", help: "Suffix of the domain in error details." },
  { name: "MOORAGE_ADMINS", fallback: "", help: "Uids of identities that may create organizations, comma-separated." },
  { name: "MOORAGE_TLS_CERT", fallback: "", help: "File with the TLS certificate chain, PEM." },
  { name: "MOORAGE_TLS_KEY", fallback: "", help: "File with the TLS private key, PEM." },
  {
    name: "MOORAGE_ALLOW_PRIVATE_NETWORK",
    fallback: "0",
    help: "1 lets the server fetch from, and send events to, loopback and private addresses, and over plain HTTP: for development.",
  },
  {
    name: "MOORAGE_TRUSTED_PROXIES",
    fallback: "",
    help: "Addresses or networks whose X-Forwarded-For header counts, comma-separated.",
  },
  {
    name: "MOORAGE_OAUTH_REDIRECT_URIS",
    fallback: "",
    help: "Exact URLs that the client moorage-web may have people sent back to after sign-in, comma-separated: https, or http on 127.0.0.1.",
  },
  {
    name: "MOORAGE_RATE_LIMIT_IDENTITY",
    fallback: "500/s:2000",
    help: "Requests a second of one identity, and after the colon how many at once; 0 sets no limit. Each process counts by itself: with several, or replicas, the whole is as many times that.",
  },
  {
    name: "MOORAGE_RATE_LIMIT_ADDRESS",
    fallback: "1000/s:4000",
    help: "The same of one client address; an IPv6 /64 is one. A request with credentials that are not good counts twice. Behind a proxy set MOORAGE_TRUSTED_PROXIES, or all its clients are one.",
  },
  {
    name: "MOORAGE_LOG_LEVEL",
    fallback: "info",
    help: "Least level that is logged: trace, debug, info, warn, error, silent.",
  },
  { name: "MOORAGE_MAX_MANIFEST_BYTES", fallback: "4194304", help: "Largest manifest accepted, in bytes." },
  { name: "MOORAGE_MAX_JSON_BYTES", fallback: "1048576", help: "Largest request body of the platform API, in bytes." },
  { name: "MOORAGE_ACCESS_TOKEN_TTL", fallback: "1h", help: "Longest life of a platform token; at most 1h." },
  { name: "MOORAGE_REGISTRY_TOKEN_TTL", fallback: "5m", help: "Life of a registry token; at most 1h." },
  { name: "MOORAGE_UPLOAD_TTL", fallback: "24h", help: "How long an abandoned upload is kept." },
  {
    name: "MOORAGE_SIGNING_KEY_AGE",
    fallback: "30d",
    help: "Age at which the key that signs tokens is replaced. The old one verifies for two hours more.",
  },
  {
    name: "MOORAGE_GC_INTERVAL",
    fallback: "1h",
    help: "How often content that nothing needs is removed; 0 leaves that to `moorage gc`.",
  },
  {
    name: "MOORAGE_GC_GRACE",
    fallback: "24h",
    help: "How long content stays after the last thing that needed it went.",
  },
  {
    name: "MOORAGE_AUDIT_RETENTION",
    fallback: "400d",
    help: "How long entries of the audit log are kept; at most 3650d.",
  },
  { name: "MOORAGE_EVENTS_PREFIX", fallback: "dev.moorage", help: "What the types of events begin with." },
  {
    name: "MOORAGE_EVENTS_RETENTION",
    fallback: "30d",
    help: "How long events, and deliveries that have ended, are kept; from 4d to 3650d. Dead letters and their events are kept for 30 days at least.",
  },
  {
    name: "MOORAGE_EVENTS_RETRY",
    fallback: "5s,1m,5m,30m,2h,5h,10h,14h,20h,20h",
    help: "How long after each failed try to deliver an event the next one is made, comma-separated; a fifth more or less of it by chance. After the last, the delivery is dead.",
  },
  {
    name: "MOORAGE_EVENTS_TIMEOUT",
    fallback: "15s",
    help: "Longest that one try to deliver an event may take; at most 1m.",
  },
  {
    name: "MOORAGE_EVENTS_CONCURRENCY",
    fallback: "16",
    help: "Tries under way at the same time for one subscription; 0 leaves delivery to other processes.",
  },
  { name: "MOORAGE_EVENTS_PULLS", fallback: "1", help: "0 leaves pulls out of the events." },
  {
    name: "MOORAGE_MIRROR_WORKERS",
    fallback: "2",
    help: "Repos that one process copies from their sources at a time; 0 leaves that to other processes.",
  },
  {
    name: "MOORAGE_TERMS_FILE",
    fallback: "",
    help: "JSON file with the documents that groups accept: a list of {id, label, url, required}. required is false, true (creating repos, identities and subscriptions, and pushing, wait for it), or a list of what waits: service areas such as registry, methods such as CreateRepo, and push.",
  },
  {
    name: "MOORAGE_AWS_STS_URL",
    fallback: "https://sts.amazonaws.com",
    help: "Where the check of an account association asks Amazon.",
  },
  {
    name: "MOORAGE_GOOGLE_STS_URL",
    fallback: "https://sts.googleapis.com",
    help: "Where the check of an account association asks Google.",
  },
  {
    name: "MOORAGE_AZURE_LOGIN_URL",
    fallback: "https://login.microsoftonline.com",
    help: "Where the check of an account association asks Azure.",
  },
  {
    name: "MOORAGE_DRAIN_TIMEOUT",
    fallback: "10s",
    help: "How long requests under way may take to end after SIGTERM.",
  },
  {
    name: "MOORAGE_DATABASE_URL",
    fallback: "",
    secret: true,
    help: "postgres://user:password@host:port/database. Default: SQLite in the data folder.",
  },
  {
    name: "MOORAGE_DATABASE_POOL_SIZE",
    fallback: "10",
    help: "Most connections to PostgreSQL that one process opens.",
  },
  {
    name: "MOORAGE_DATABASE_TIMEOUT",
    fallback: "30s",
    help: "Longest that PostgreSQL may take for one statement, and that a call waits for a connection.",
  },
  {
    name: "MOORAGE_DATABASE_TLS",
    fallback: "",
    help: "disable, require (encrypted, the server is not checked) or verify-full. Default: disable for loopback addresses and sockets, verify-full for others.",
  },
  {
    name: "MOORAGE_DATABASE_TLS_CA",
    fallback: "",
    help: "File with the authorities that PostgreSQL's certificate must come from, PEM. Default: the system's.",
  },
  {
    name: "MOORAGE_BLOBS_URL",
    fallback: "",
    help: "s3://bucket/prefix?endpoint=https://host:port&region=name&style=path; style is path or virtual. Credentials come from where AWS tools read them. Default: files in the data folder.",
  },
  {
    name: "MOORAGE_BLOBS_REDIRECT",
    fallback: "0",
    help: "1 answers a GET of a blob with a redirect to a presigned URL of the S3 server.",
  },
  { name: "MOORAGE_BLOBS_REDIRECT_TTL", fallback: "5m", help: "Life of a presigned URL." },
  {
    name: "MOORAGE_SECRET_KEY",
    fallback: "",
    secret: true,
    help: "32 bytes in base64 or hex that encrypt secrets in the database. Several, comma-separated: the first encrypts, all decrypt. Default: the file secret.key in the data folder, made at the first start.",
  },
  { name: "MOORAGE_WORKERS", fallback: "1", help: "Processes that serve the port together." },
  { name: "MOORAGE_LOG_FORMAT", fallback: "json", help: "json, one object a line, or text for people." },
  {
    name: "MOORAGE_METRICS_NETWORKS",
    fallback: "127.0.0.0/8,::1",
    help: "Addresses or networks that may read /metrics, comma-separated.",
  },
  {
    name: "MOORAGE_TRACES_URL",
    fallback: "",
    help: "Where OpenTelemetry traces go: the full URL of an OTLP/HTTP receiver, such as http://collector:4318/v1/traces. Default: no traces.",
  },
  {
    name: "MOORAGE_TRACES_SAMPLE",
    fallback: "1",
    help: "Share of the requests that are traced, 0 to 1, where the caller's traceparent does not say.",
  },
];

/** A wrong setting: one line that names it. */
export class ConfigError extends Error {}

const PATH_COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const HOUR_MS = 3_600_000;

/** Reads the settings. An empty value is an absent one. Throws a ConfigError for the first wrong one. */
export function loadConfig(
  env: Record<string, string | undefined>,
  overrides: Record<string, string | undefined> = {},
): Config {
  const text = (name: string): string =>
    overrides[name] || env[name] || (SETTINGS.find((setting) => setting.name === name)?.fallback ?? "");
  const unknown = Object.keys(overrides).find((name) => !SETTINGS.some((setting) => setting.name === name));
  if (unknown !== undefined) throw new ConfigError(`${unknown}: no such setting`);
  const list = (name: string): string[] =>
    text(name)
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  const checked = (name: string, pattern: RegExp, what: string): string[] =>
    list(name).map((item) => {
      if (!pattern.test(item)) throw new ConfigError(`${name}: ${item} is not ${what}`);
      return item;
    });
  const integer = (name: string, min: number, max: number): number => {
    const value = text(name);
    if (!/^\d+$/.test(value) || Number(value) < min || Number(value) > max)
      throw new ConfigError(`${name}: must be a whole number from ${min} to ${max}, not ${value}`);
    return Number(value);
  };
  const duration = (name: string, max: number): number => {
    const value = parseDuration(text(name));
    if (value === undefined || value <= 0 || value > max)
      throw new ConfigError(
        `${name}: must be a duration such as 90s, 15m or 1h, at most ${max / 1000}s, not ${text(name)}`,
      );
    return value;
  };
  const retention = (name: string): number => {
    const value = duration(name, 3650 * 24 * HOUR_MS);
    // Longer than an event is tried by default, so that what is tried is there.
    if (value < 4 * 24 * HOUR_MS) throw new ConfigError(`${name}: must be at least 4d, not ${text(name)}`);
    return value;
  };
  const one = (name: string): string => {
    const value = text(name);
    if (!PATH_COMPONENT.test(value))
      throw new ConfigError(`${name}: ${value} is not a name that can stand in an image path`);
    return value;
  };
  const port = integer("MOORAGE_PORT", 0, 65_535);
  const tlsCert = text("MOORAGE_TLS_CERT");
  const tlsKey = text("MOORAGE_TLS_KEY");
  if ((tlsCert === "") !== (tlsKey === ""))
    throw new ConfigError(`${tlsCert === "" ? "MOORAGE_TLS_CERT" : "MOORAGE_TLS_KEY"}: is needed as well`);
  const host = text("MOORAGE_HOST");
  const choice = <T extends string>(name: string, choices: readonly T[]): T => {
    const found = choices.find((candidate) => candidate === text(name));
    if (found === undefined) throw new ConfigError(`${name}: must be ${choices.join(" or ")}, not ${text(name)}`);
    return found;
  };
  const databaseUrl = databaseUrlOf(text("MOORAGE_DATABASE_URL"));
  const config: Config = {
    host,
    port,
    dataDir: text("MOORAGE_DATA_DIR"),
    baseUrl: url("MOORAGE_BASE_URL", text("MOORAGE_BASE_URL")),
    registryUrl: url("MOORAGE_REGISTRY_URL", text("MOORAGE_REGISTRY_URL")),
    registryAudience: "",
    organization: one("MOORAGE_ORGANIZATION"),
    publicOrganization: one("MOORAGE_PUBLIC_ORGANIZATION"),
    freeTierTags: checked("MOORAGE_FREE_TIER_TAGS", /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/, "a tag"),
    historySegments: checked(
      "MOORAGE_HISTORY_SEGMENTS",
      /^_[a-z0-9_-]+$/,
      "a path segment that starts with an underscore",
    ),
    grpcPackageAliases: checked(
      "MOORAGE_GRPC_PACKAGE_ALIASES",
      /^[a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)*$/,
      "a package name",
    ),
    errorDomain: domain("MOORAGE_ERROR_DOMAIN", text("MOORAGE_ERROR_DOMAIN")),
    admins: checked("MOORAGE_ADMINS", /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/, "a uid"),
    tlsCert,
    tlsKey,
    allowPrivateNetwork: flag("MOORAGE_ALLOW_PRIVATE_NETWORK", text("MOORAGE_ALLOW_PRIVATE_NETWORK")),
    trustedProxies: list("MOORAGE_TRUSTED_PROXIES"),
    rateLimitIdentity: rateLimit("MOORAGE_RATE_LIMIT_IDENTITY", text("MOORAGE_RATE_LIMIT_IDENTITY")),
    rateLimitAddress: rateLimit("MOORAGE_RATE_LIMIT_ADDRESS", text("MOORAGE_RATE_LIMIT_ADDRESS")),
    oauthRedirectUris: list("MOORAGE_OAUTH_REDIRECT_URIS").map(redirectUri),
    logLevel: text("MOORAGE_LOG_LEVEL"),
    maxManifestBytes: integer("MOORAGE_MAX_MANIFEST_BYTES", 1, 64 << 20),
    maxJsonBytes: integer("MOORAGE_MAX_JSON_BYTES", 1, 64 << 20),
    accessTokenTtlMs: duration("MOORAGE_ACCESS_TOKEN_TTL", HOUR_MS),
    registryTokenTtlMs: duration("MOORAGE_REGISTRY_TOKEN_TTL", HOUR_MS),
    uploadTtlMs: duration("MOORAGE_UPLOAD_TTL", 30 * 24 * HOUR_MS),
    signingKeyAgeMs: duration("MOORAGE_SIGNING_KEY_AGE", 3650 * 24 * HOUR_MS),
    drainTimeoutMs: duration("MOORAGE_DRAIN_TIMEOUT", HOUR_MS),
    gcIntervalMs: text("MOORAGE_GC_INTERVAL") === "0" ? 0 : duration("MOORAGE_GC_INTERVAL", 30 * 24 * HOUR_MS),
    gcGraceMs: duration("MOORAGE_GC_GRACE", 365 * 24 * HOUR_MS),
    auditRetentionMs: duration("MOORAGE_AUDIT_RETENTION", 3650 * 24 * HOUR_MS),
    eventsPrefix: domain("MOORAGE_EVENTS_PREFIX", text("MOORAGE_EVENTS_PREFIX")),
    eventsRetentionMs: retention("MOORAGE_EVENTS_RETENTION"),
    eventsRetryMs: list("MOORAGE_EVENTS_RETRY").map((item) => delay("MOORAGE_EVENTS_RETRY", item)),
    eventsTimeoutMs: duration("MOORAGE_EVENTS_TIMEOUT", 60_000),
    eventsConcurrency: integer("MOORAGE_EVENTS_CONCURRENCY", 0, 256),
    eventsPulls: flag("MOORAGE_EVENTS_PULLS", text("MOORAGE_EVENTS_PULLS")),
    mirrorWorkers: integer("MOORAGE_MIRROR_WORKERS", 0, 64),
    termsFile: text("MOORAGE_TERMS_FILE"),
    awsStsUrl: url("MOORAGE_AWS_STS_URL", text("MOORAGE_AWS_STS_URL")),
    googleStsUrl: url("MOORAGE_GOOGLE_STS_URL", text("MOORAGE_GOOGLE_STS_URL")),
    azureLoginUrl: url("MOORAGE_AZURE_LOGIN_URL", text("MOORAGE_AZURE_LOGIN_URL")),
    databaseUrl,
    databasePoolSize: integer("MOORAGE_DATABASE_POOL_SIZE", 2, 1000),
    databaseTimeoutMs: duration("MOORAGE_DATABASE_TIMEOUT", HOUR_MS),
    databaseTls:
      text("MOORAGE_DATABASE_TLS") === ""
        ? defaultTls(databaseUrl)
        : choice("MOORAGE_DATABASE_TLS", ["disable", "require", "verify-full"]),
    databaseTlsCa: text("MOORAGE_DATABASE_TLS_CA"),
    blobsUrl: text("MOORAGE_BLOBS_URL"),
    blobsRedirectTtlMs: flag("MOORAGE_BLOBS_REDIRECT", text("MOORAGE_BLOBS_REDIRECT"))
      ? duration("MOORAGE_BLOBS_REDIRECT_TTL", HOUR_MS)
      : 0,
    secretKeys: list("MOORAGE_SECRET_KEY").map(secretKey),
    workers: integer("MOORAGE_WORKERS", 1, 256),
    logFormat: choice("MOORAGE_LOG_FORMAT", ["json", "text"]),
    metricsNetworks: list("MOORAGE_METRICS_NETWORKS"),
    tracesUrl: tracesUrlOf(text("MOORAGE_TRACES_URL")),
    tracesSample: share("MOORAGE_TRACES_SAMPLE", text("MOORAGE_TRACES_SAMPLE")),
  };
  if (config.organization === config.publicOrganization)
    throw new ConfigError("MOORAGE_PUBLIC_ORGANIZATION: must differ from MOORAGE_ORGANIZATION");
  if (config.eventsRetryMs.length > 50) throw new ConfigError("MOORAGE_EVENTS_RETRY: must be at most 50 durations");
  if (!["trace", "debug", "info", "warn", "error", "silent"].includes(config.logLevel))
    throw new ConfigError(`MOORAGE_LOG_LEVEL: ${config.logLevel} is not a level`);
  return port === 0 ? config : withUrls(config, port);
}

/**
 * Fills in the URLs that were left to their defaults, now that the port is known. Throws a ConfigError when the
 * audiences are equal.
 */
export function withUrls(config: Config, port: number): Config {
  const bare = config.host === "0.0.0.0" || config.host === "::" ? "127.0.0.1" : config.host;
  const own = `${config.tlsCert === "" ? "http" : "https"}://${bare.includes(":") ? `[${bare}]` : bare}:${port}`;
  const baseUrl = config.baseUrl || own;
  const registryUrl = config.registryUrl || baseUrl;
  const registryAudience = new URL(registryUrl).host;
  if (registryAudience === baseUrl)
    throw new ConfigError("MOORAGE_REGISTRY_URL: the registry's audience must differ from the platform's");
  return { ...config, port, baseUrl, registryUrl, registryAudience };
}

/** Milliseconds of a text such as `90s`, `15m`, `1h` or `7d`. Undefined for another form. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  return match
    ? Number(match[1]) *
        { ms: 1, s: 1000, m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS }[match[2] as "ms" | "s" | "m" | "h" | "d"]
    : undefined;
}

function delay(name: string, value: string): number {
  const delayMs = parseDuration(value);
  if (delayMs === undefined || delayMs <= 0 || delayMs > 7 * 24 * HOUR_MS)
    throw new ConfigError(`${name}: must be durations such as 5s,1m,1h, each at most 7d, not ${value}`);
  return delayMs;
}

function url(name: string, value: string): string {
  if (value === "") return "";
  const parsed = URL.parse(value);
  if (
    !parsed ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.search !== "" ||
    parsed.hash !== "" ||
    parsed.username !== "" ||
    parsed.pathname !== "/"
  ) {
    throw new ConfigError(`${name}: must be an http or https URL without a path, not ${value}`);
  }
  return parsed.origin;
}

function redirectUri(value: string): string {
  const parsed = URL.parse(value);
  const loopback = parsed?.protocol === "http:" && ["127.0.0.1", "[::1]"].includes(parsed.hostname);
  if (
    parsed &&
    (parsed.protocol === "https:" || loopback) &&
    parsed.username === "" &&
    parsed.hash === "" &&
    parsed.href === value
  )
    return value;
  throw new ConfigError(
    `MOORAGE_OAUTH_REDIRECT_URIS: ${value} is not an https URL as a browser writes it, without user and fragment`,
  );
}

function domain(name: string, value: string): string {
  if (value.length <= 200 && /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(value)) return value;
  throw new ConfigError(`${name}: must be a domain name in lower case, not ${value}`);
}

function flag(name: string, value: string): boolean {
  if (/^(?:1|true|on|yes)$/i.test(value)) return true;
  if (/^(?:0|false|off|no)$/i.test(value)) return false;
  throw new ConfigError(`${name}: must be 1 or 0, not ${value}`);
}

// The value may hold a password: it is never repeated in a message.
function databaseUrlOf(value: string): string {
  if (value === "") return "";
  const parsed = URL.parse(value);
  if (!parsed || !/^postgres(?:ql)?:$/.test(parsed.protocol) || parsed.pathname.length < 2)
    throw new ConfigError("MOORAGE_DATABASE_URL: must be of the form postgres://user:password@host:port/database");
  return value;
}

// As above: collectors are sometimes given a password in the URL.
function tracesUrlOf(value: string): string {
  if (value !== "" && !/^https?:$/.test(URL.parse(value)?.protocol ?? ""))
    throw new ConfigError("MOORAGE_TRACES_URL: must be an http or https URL");
  return value;
}

function defaultTls(databaseUrl: string): DatabaseTls {
  const host = URL.parse(databaseUrl)?.hostname ?? "";
  return host === "" || host === "localhost" || host.startsWith("127.") || host === "[::1]" ? "disable" : "verify-full";
}

function secretKey(value: string): Uint8Array {
  const key = /^[0-9a-f]{64}$/i.test(value) ? Buffer.from(value, "hex") : Buffer.from(value, "base64");
  if (key.length !== 32)
    throw new ConfigError(
      "MOORAGE_SECRET_KEY: must be 32 bytes, in base64 or hex; `openssl rand -base64 32` makes such a key",
    );
  return key;
}

/** Without a burst it is what four seconds bring. */
function rateLimit(name: string, value: string): RateLimit | undefined {
  if (value === "0") return undefined;
  const [, rate = "", burst] = /^([1-9]\d{0,8})\/s(?::([1-9]\d{0,8}))?$/.exec(value) ?? [];
  if (rate === "") throw new ConfigError(`${name}: must be 0 or of the form 500/s or 500/s:2000, not ${value}`);
  return { perSecond: Number(rate), burst: burst === undefined ? 4 * Number(rate) : Number(burst) };
}

function share(name: string, value: string): number {
  const number = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= 1)) throw new ConfigError(`${name}: must be a number from 0 to 1, not ${value}`);
  return number;
}
