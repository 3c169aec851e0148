import {
  choice,
  databaseUrl,
  DAY_MS,
  delays,
  domain,
  duration,
  flag,
  HOUR_MS,
  integer,
  type Kind,
  list,
  listOf,
  logLevel,
  orEmpty,
  origin,
  orZero,
  pathComponent,
  rateLimit,
  redirectUris,
  secretKeys,
  share,
  text,
  tracesUrl,
} from "./kinds.ts";

/** Whether a connection to PostgreSQL is encrypted, and the server checked. */
export const DATABASE_TLS = ["disable", "require", "verify-full"] as const;
const LOG_FORMATS = ["json", "text"] as const;

/** One setting: its variable, default, what it means (with its unit), and whether its value must not be shown. */
export interface Setting<T = unknown> {
  name: string;
  fallback: string;
  help: string;
  kind: Kind<T>;
  secret?: true;
}

/** The one table of settings, by their names in `Config`, in the order in which they are documented. */
export const TABLE = {
  host: setting(text, "MOORAGE_HOST", "127.0.0.1", "Address to listen on."),
  port: setting(integer(0, 65_535), "MOORAGE_PORT", "8080", "Port to listen on; 0 takes any free one."),
  dataDir: setting(text, "MOORAGE_DATA_DIR", "./data", "Folder of the database and the blobs."),
  /** Where the platform API is reached, the issuer, and the platform's audience; no slash at the end. */
  baseUrl: setting(
    origin,
    "MOORAGE_BASE_URL",
    "",
    "URL under which clients reach the platform API. Default: the address listened on.",
  ),
  /** Where the registry is reached; no slash at the end. */
  registryUrl: setting(
    origin,
    "MOORAGE_REGISTRY_URL",
    "",
    "URL under which clients reach the registry. Default: the base URL.",
  ),
  organization: setting(
    pathComponent,
    "MOORAGE_ORGANIZATION",
    "acme",
    "Name of the first organization, made at the first start.",
  ),
  publicOrganization: setting(
    pathComponent,
    "MOORAGE_PUBLIC_ORGANIZATION",
    "public",
    "Name of the organization whose free-tier tags anybody may pull.",
  ),
  freeTierTags: setting(
    listOf(/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/, "a tag"),
    "MOORAGE_FREE_TIER_TAGS",
    "latest,latest-dev",
    "Tags of the public organization that anybody may pull, comma-separated.",
  ),
  historySegments: setting(
    listOf(/^_[a-z0-9_-]+$/, "a path segment that starts with an underscore"),
    "MOORAGE_HISTORY_SEGMENTS",
    "_service",
    "Path segments under which the tag history is served, comma-separated.",
  ),
  grpcPackageAliases: setting(
    listOf(/^[a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)*$/, "a package name"),
    "MOORAGE_GRPC_PACKAGE_ALIASES",
    "",
    "Package prefixes under which the gRPC services are served as well, comma-separated.",
  ),
  errorDomain: setting(domain, "MOORAGE_ERROR_DOMAIN", "moorage.dev", "Suffix of the domain in error details."),
  admins: setting(
    listOf(/^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/, "a uid"),
    "MOORAGE_ADMINS",
    "",
    "Uids of identities that may create organizations, comma-separated.",
  ),
  tlsCert: setting(text, "MOORAGE_TLS_CERT", "", "File with the TLS certificate chain, PEM."),
  tlsKey: setting(text, "MOORAGE_TLS_KEY", "", "File with the TLS private key, PEM."),
  allowPrivateNetwork: setting(
    flag,
    "MOORAGE_ALLOW_PRIVATE_NETWORK",
    "0",
    "1 lets the server fetch from, and send events to, loopback and private addresses, and over plain HTTP: for development.",
  ),
  trustedProxies: setting(
    list,
    "MOORAGE_TRUSTED_PROXIES",
    "",
    "Addresses or networks whose X-Forwarded-For header counts, comma-separated.",
  ),
  oauthRedirectUris: setting(
    redirectUris,
    "MOORAGE_OAUTH_REDIRECT_URIS",
    "",
    "Exact URLs that the client moorage-web may have people sent back to after sign-in, comma-separated: https, or http on 127.0.0.1.",
  ),
  /** Undefined: no limit. */
  rateLimitIdentity: setting(
    rateLimit,
    "MOORAGE_RATE_LIMIT_IDENTITY",
    "500/s:2000",
    "Requests a second of one identity, and after the colon how many at once; 0 sets no limit. Each process counts by itself: with several, or replicas, the whole is as many times that.",
  ),
  /** Undefined: no limit. */
  rateLimitAddress: setting(
    rateLimit,
    "MOORAGE_RATE_LIMIT_ADDRESS",
    "1000/s:4000",
    "The same of one client address; an IPv6 /64 is one. A request with credentials that are not good counts twice. Behind a proxy set MOORAGE_TRUSTED_PROXIES, or all its clients are one.",
  ),
  logLevel: setting(
    logLevel,
    "MOORAGE_LOG_LEVEL",
    "info",
    "Least level that is logged: trace, debug, info, warn, error, silent.",
  ),
  maxManifestBytes: setting(
    integer(1, 64 << 20),
    "MOORAGE_MAX_MANIFEST_BYTES",
    "4194304",
    "Largest manifest accepted, in bytes.",
  ),
  maxJsonBytes: setting(
    integer(1, 64 << 20),
    "MOORAGE_MAX_JSON_BYTES",
    "1048576",
    "Largest request body of the platform API, in bytes.",
  ),
  accessTokenTtlMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_ACCESS_TOKEN_TTL",
    "1h",
    "Longest life of a platform token; at most 1h.",
  ),
  registryTokenTtlMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_REGISTRY_TOKEN_TTL",
    "5m",
    "Life of a registry token; at most 1h.",
  ),
  uploadTtlMs: setting(
    duration({ maxMs: 30 * DAY_MS }),
    "MOORAGE_UPLOAD_TTL",
    "24h",
    "How long an abandoned upload is kept.",
  ),
  signingKeyAgeMs: setting(
    duration({ maxMs: 3650 * DAY_MS }),
    "MOORAGE_SIGNING_KEY_AGE",
    "30d",
    "Age at which the key that signs tokens is replaced. The old one verifies for two hours more.",
  ),
  /** Zero: garbage is collected by command alone. */
  gcIntervalMs: setting(
    orZero(duration({ maxMs: 30 * DAY_MS })),
    "MOORAGE_GC_INTERVAL",
    "1h",
    "How often content that nothing needs is removed; 0 leaves that to `moorage gc`.",
  ),
  gcGraceMs: setting(
    duration({ maxMs: 365 * DAY_MS }),
    "MOORAGE_GC_GRACE",
    "24h",
    "How long content stays after the last thing that needed it went.",
  ),
  auditRetentionMs: setting(
    duration({ maxMs: 3650 * DAY_MS }),
    "MOORAGE_AUDIT_RETENTION",
    "400d",
    "How long entries of the audit log are kept; at most 3650d.",
  ),
  eventsPrefix: setting(domain, "MOORAGE_EVENTS_PREFIX", "dev.moorage", "What the types of events begin with."),
  /** At least as long as an event is tried by default, so that what is tried is there. */
  eventsRetentionMs: setting(
    duration({ min: "4d", maxMs: 3650 * DAY_MS }),
    "MOORAGE_EVENTS_RETENTION",
    "30d",
    "How long events, and deliveries that have ended, are kept; from 4d to 3650d. Dead letters and their events are kept for 30 days at least.",
  ),
  eventsRetryMs: setting(
    delays,
    "MOORAGE_EVENTS_RETRY",
    "5s,1m,5m,30m,2h,5h,10h,14h,20h,20h",
    "How long after each failed try to deliver an event the next one is made, comma-separated; a fifth more or less of it by chance. After the last, the delivery is dead.",
  ),
  /** From the name to the end of the answer. */
  eventsTimeoutMs: setting(
    duration({ maxMs: 60_000 }),
    "MOORAGE_EVENTS_TIMEOUT",
    "15s",
    "Longest that one try to deliver an event may take; at most 1m.",
  ),
  /** Zero: this process sends no events. */
  eventsConcurrency: setting(
    integer(0, 256),
    "MOORAGE_EVENTS_CONCURRENCY",
    "16",
    "Tries under way at the same time for one subscription; 0 leaves delivery to other processes.",
  ),
  eventsPulls: setting(flag, "MOORAGE_EVENTS_PULLS", "1", "0 leaves pulls out of the events."),
  /** Zero: this process copies no mirrors. */
  mirrorWorkers: setting(
    integer(0, 64),
    "MOORAGE_MIRROR_WORKERS",
    "2",
    "Repos that one process copies from their sources at a time; 0 leaves that to other processes.",
  ),
  /** Empty: no terms. */
  termsFile: setting(
    text,
    "MOORAGE_TERMS_FILE",
    "",
    "JSON file with the documents that groups accept: a list of {id, label, url, required}. required is false, true (creating repos, identities and subscriptions, and pushing, wait for it), or a list of what waits: service areas such as registry, methods such as CreateRepo, and push.",
  ),
  awsStsUrl: setting(
    origin,
    "MOORAGE_AWS_STS_URL",
    "https://sts.amazonaws.com",
    "Where the check of an account association asks Amazon.",
  ),
  googleStsUrl: setting(
    origin,
    "MOORAGE_GOOGLE_STS_URL",
    "https://sts.googleapis.com",
    "Where the check of an account association asks Google.",
  ),
  azureLoginUrl: setting(
    origin,
    "MOORAGE_AZURE_LOGIN_URL",
    "https://login.microsoftonline.com",
    "Where the check of an account association asks Azure.",
  ),
  drainTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_DRAIN_TIMEOUT",
    "10s",
    "How long requests under way may take to end after SIGTERM.",
  ),
  /** Empty: SQLite in the data folder. */
  databaseUrl: setting(
    databaseUrl,
    "MOORAGE_DATABASE_URL",
    "",
    "postgres://user:password@host:port/database. Default: SQLite in the data folder.",
    { secret: true },
  ),
  /** Connections to PostgreSQL, for reads and for writes together. */
  databasePoolSize: setting(
    integer(2, 1000),
    "MOORAGE_DATABASE_POOL_SIZE",
    "10",
    "Most connections to PostgreSQL that one process opens.",
  ),
  databaseTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_DATABASE_TIMEOUT",
    "30s",
    "Longest that PostgreSQL may take for one statement, and that a call waits for a connection.",
  ),
  databaseTls: setting(
    orEmpty(choice(DATABASE_TLS)),
    "MOORAGE_DATABASE_TLS",
    "",
    "disable, require (encrypted, the server is not checked) or verify-full. Default: disable for loopback addresses and sockets, verify-full for others.",
  ),
  databaseTlsCa: setting(
    text,
    "MOORAGE_DATABASE_TLS_CA",
    "",
    "File with the authorities that PostgreSQL's certificate must come from, PEM. Default: the system's.",
  ),
  /** Empty: files in the data folder. */
  blobsUrl: setting(
    text,
    "MOORAGE_BLOBS_URL",
    "",
    "s3://bucket/prefix?endpoint=https://host:port&region=name&style=path; style is path or virtual. Credentials come from where AWS tools read them. Default: files in the data folder.",
  ),
  blobsRedirect: setting(
    flag,
    "MOORAGE_BLOBS_REDIRECT",
    "0",
    "1 answers a GET of a blob with a redirect to a presigned URL of the S3 server.",
  ),
  /** Zero: blobs are sent by the server itself. */
  blobsRedirectTtlMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_BLOBS_REDIRECT_TTL",
    "5m",
    "Life of a presigned URL.",
  ),
  /** The first seals, all open. None: the key file of the data folder. */
  secretKeys: setting(
    secretKeys,
    "MOORAGE_SECRET_KEY",
    "",
    "32 bytes in base64 or hex that encrypt secrets in the database. Several, comma-separated: the first encrypts, all decrypt. Default: the file secret.key in the data folder, made at the first start.",
    { secret: true },
  ),
  workers: setting(integer(1, 256), "MOORAGE_WORKERS", "1", "Processes that serve the port together."),
  logFormat: setting(choice(LOG_FORMATS), "MOORAGE_LOG_FORMAT", "json", "json, one object a line, or text for people."),
  metricsNetworks: setting(
    list,
    "MOORAGE_METRICS_NETWORKS",
    "127.0.0.0/8,::1",
    "Addresses or networks that may read /metrics, comma-separated.",
  ),
  /** Empty: no traces are made. */
  tracesUrl: setting(
    tracesUrl,
    "MOORAGE_TRACES_URL",
    "",
    "Where OpenTelemetry traces go: the full URL of an OTLP/HTTP receiver, such as http://collector:4318/v1/traces. Default: no traces.",
  ),
  tracesSample: setting(
    share,
    "MOORAGE_TRACES_SAMPLE",
    "1",
    "Share of the requests that are traced, 0 to 1, where the caller's traceparent does not say.",
  ),
};

/** The settings in the order in which they are documented. */
export const SETTINGS: readonly Setting[] = Object.values(TABLE);

/** The setting's flag of `moorage serve`: that of `MOORAGE_DATA_DIR` is `--data-dir`. */
export function flagOf({ name }: Pick<Setting, "name">): string {
  return `--${name
    .replace(/^MOORAGE_/, "")
    .toLowerCase()
    .replaceAll("_", "-")}`;
}

function setting<T>(
  kind: Kind<T>,
  name: string,
  fallback: string,
  help: string,
  more: { secret?: true } = {},
): Setting<T> {
  return { name, fallback, help, kind, ...more };
}
