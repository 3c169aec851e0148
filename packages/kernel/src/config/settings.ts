import {
  choice,
  databaseUrl,
  DAY_MS,
  delays,
  domain,
  duration,
  flag,
  folderPath,
  HOUR_MS,
  integer,
  type Kind,
  list,
  listOf,
  logLevel,
  mailbox,
  orEmpty,
  origin,
  orZero,
  pathComponent,
  rateLimit,
  redirectUris,
  mirrorHosts,
  registryHosts,
  secretKeys,
  share,
  smtpUrl,
  text,
  tracesUrl,
} from "./kinds.ts";

/** Whether the connection to PostgreSQL is encrypted, and the server's certificate verified. */
export const DATABASE_TLS = ["disable", "require", "verify-full"] as const;
const LOG_FORMATS = ["json", "text"] as const;
/** When people may have accounts that the installation keeps: auto is as the description of the setting says. */
const LOCAL_ACCOUNTS = ["auto", "on", "off"] as const;

/** A setting: its variable, default, description (with its unit), and whether its value must not be shown. */
export interface Setting<T = unknown> {
  name: string;
  fallback: string;
  help: string;
  kind: Kind<T>;
  secret?: true;
}

/** Whether certificate authorities are asked if they have revoked a certificate. */
const REVOCATION = ["off", "online"] as const;

/** All settings, by their names in `Config`, in the order in which they are documented. */
export const TABLE = {
  host: setting(text, "MOORAGE_HOST", "127.0.0.1", "Address to listen on."),
  port: setting(integer(0, 65_535), "MOORAGE_PORT", "8080", "Port to listen on; 0 takes any free one."),
  dataDir: setting(text, "MOORAGE_DATA_DIR", "./data", "Folder of the database and the blobs."),
  diskReserveBytes: setting(
    integer(0, 2 ** 40),
    "MOORAGE_DISK_RESERVE",
    "67108864",
    "Bytes of the data folder's disk that are kept for when it is full, for tokens, deletes and garbage collection, with the embedded database; 0 keeps none.",
  ),
  /** The URL of the platform API, which is also the issuer and the platform's audience; no slash at the end. */
  baseUrl: setting(
    origin,
    "MOORAGE_BASE_URL",
    "",
    "URL under which clients reach the platform API; it is the issuer of tokens as well. Default: the address listened on, with addresses in answers by the name that the client called.",
  ),
  /** The URL of the registry; no slash at the end. */
  registryUrl: setting(
    origin,
    "MOORAGE_REGISTRY_URL",
    "",
    "URL under which clients reach the registry. Default: the base URL.",
  ),
  registryHosts: setting(
    registryHosts,
    "MOORAGE_REGISTRY_HOSTS",
    "",
    "Other names by which clients reach the registry, as host[:port], comma-separated, such as the name of a Kubernetes service: to requests for them, challenges and addresses of files have that name. With https:// or http:// before it, that is their scheme. Where neither MOORAGE_REGISTRY_URL nor MOORAGE_BASE_URL is set, every name counts.",
  ),
  mirrors: setting(
    mirrorHosts,
    "MOORAGE_MIRRORS",
    "",
    "Hosts at which paths of images have no prefix, for clients that take a mirror, as host[:port]=group, comma-separated, such as mirror.example.com=acme/mirrors: the group below it that stands for the registry of the parameter ns answers, or that for docker.io. None of them may be the registry's own host.",
  ),
  organization: setting(
    pathComponent,
    "MOORAGE_ORGANIZATION",
    "acme",
    "Name of the first organization, created at the first start.",
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
  publicGroups: setting(
    flag,
    "MOORAGE_PUBLIC_GROUPS",
    "0",
    "1 lets owners of groups make them public, by binding a role that only reads to the built-in identity everybody, or to signed-in for whoever has a token of this installation. 0 has such bindings count for nothing: then only the public organization is read without a log-in.",
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
  localAccounts: setting(
    choice(LOCAL_ACCOUNTS),
    "MOORAGE_LOCAL_ACCOUNTS",
    "auto",
    "Whether people may have accounts of this installation's own, with a passkey or a password: on, off, or auto, which lets an organization have them that has some already, and every one while the installation has no OpenID provider.",
  ),
  emailIssuers: setting(
    listOf(
      /^[a-z0-9-]+(?:\.[a-z0-9-]+)+=https?:\/\/\S+$/,
      "a domain and an issuer, such as example.com=https://login.example.com",
    ),
    "MOORAGE_EMAIL_ISSUERS",
    "",
    "Issuers whose word on e-mail addresses of a domain every organization's invites accept, such as example.com=https://login.example.com, comma-separated.",
  ),
  /** Empty where no mail is sent. */
  smtpUrl: setting(
    smtpUrl,
    "MOORAGE_SMTP_URL",
    "",
    "Mail server that sends invites and recovery links: smtps://user:password@host:port, encrypted from the start, or smtp://…, which is encrypted by STARTTLS. Default ports: 465 and 587. Default: no mail is sent, and links are shown.",
    { secret: true },
  ),
  smtpPasswordFile: setting(
    text,
    "MOORAGE_SMTP_PASSWORD_FILE",
    "",
    "File with the password of the user in MOORAGE_SMTP_URL, in place of one there. Read at the start.",
  ),
  smtpFrom: setting(
    mailbox,
    "MOORAGE_SMTP_FROM",
    "",
    "Sender of mails: an address, or a name and an address such as Registry <registry@example.com>.",
  ),
  smtpTls: setting(
    orEmpty(choice(DATABASE_TLS)),
    "MOORAGE_SMTP_TLS",
    "",
    "disable (not encrypted, for smtp:// alone), require (encrypted, without verifying the mail server's certificate) or verify-full. Default: disable for smtp:// to loopback addresses, verify-full for others.",
  ),
  smtpTlsCa: setting(
    text,
    "MOORAGE_SMTP_TLS_CA",
    "",
    "File with the certificate authorities that may issue the mail server's certificate, PEM. Default: those of Node.",
  ),
  smtpTimeoutMs: setting(
    duration({ min: "1s", maxMs: HOUR_MS }),
    "MOORAGE_SMTP_TIMEOUT",
    "60s",
    "How long the mail server may take for one mail, from connecting to the end.",
  ),
  smtpRetryMs: setting(
    delays,
    "MOORAGE_SMTP_RETRY",
    "1m,5m,30m,2h,6h",
    "Delays between attempts to send a mail that the mail server did not take, comma-separated; after the last one it has failed.",
  ),
  tlsCert: setting(text, "MOORAGE_TLS_CERT", "", "File with the TLS certificate chain, PEM."),
  tlsKey: setting(text, "MOORAGE_TLS_KEY", "", "File with the TLS private key, PEM."),
  caFile: setting(
    text,
    "MOORAGE_CA_FILE",
    "",
    "File with certificate authorities, PEM, that are trusted beside Node's own wherever the server asks another one: identity providers, upstreams, mirrors, webhooks, feeds, S3.",
  ),
  allowPrivateNetwork: setting(
    flag,
    "MOORAGE_ALLOW_PRIVATE_NETWORK",
    "0",
    "1 allows the server to fetch from, and send events to, loopback and private addresses, and over plain HTTP: for development.",
  ),
  dnsServers: setting(
    listOf(
      /^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|\[[0-9a-f:]+\](?::\d{1,5})?|[0-9a-f]*:[0-9a-f:]+)$/i,
      "an address",
    ),
    "MOORAGE_DNS_SERVERS",
    "",
    "Name servers to ask for issuers, sinks, mirrors and cloud providers, as address[:port], comma-separated. Default: those of the operating system, with its hosts file and search list, which do not count when this is set.",
  ),
  trustedProxies: setting(
    list,
    "MOORAGE_TRUSTED_PROXIES",
    "",
    "Addresses or networks whose X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Proto headers count, or Forwarded without any of these, comma-separated.",
  ),
  oauthRedirectUris: setting(
    redirectUris,
    "MOORAGE_OAUTH_REDIRECT_URIS",
    "",
    "Exact URLs to which the client moorage-web may redirect people after sign-in, comma-separated: https, or http on 127.0.0.1.",
  ),
  /** Undefined without a limit. */
  rateLimitIdentity: setting(
    rateLimit,
    "MOORAGE_RATE_LIMIT_IDENTITY",
    "500/s:2000",
    "Requests a second of one identity, and after the colon the burst; 0 sets no limit. Pulls with valid credentials are not counted. Each process counts by itself, so with several processes or replicas the total limit is that many times higher.",
  ),
  /** Undefined without a limit. */
  rateLimitAddress: setting(
    rateLimit,
    "MOORAGE_RATE_LIMIT_ADDRESS",
    "1000/s:4000",
    "The same for one client address; an IPv6 /64 counts as one. A request with invalid credentials counts twice; of pulls only those count that are anonymous. Behind a proxy set MOORAGE_TRUSTED_PROXIES, or all its clients count as one.",
  ),
  /** Zero when connections of one address are not limited. */
  connectionsAddress: setting(
    integer(0, 10_000),
    "MOORAGE_CONNECTIONS_ADDRESS",
    "1000",
    "Connections of one client address to one process, which takes 10000 in all and reserves the last tenth for addresses with few; an IPv6 /64 counts as one, addresses of MOORAGE_TRUSTED_PROXIES are not limited. 0 sets no limit.",
  ),
  bodyTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_BODY_TIMEOUT",
    "30s",
    "How long a request's body may take to arrive before its sender is authenticated; afterwards it may take any time.",
  ),
  logLevel: setting(
    logLevel,
    "MOORAGE_LOG_LEVEL",
    "info",
    "Lowest level that is logged: trace, debug, info, warn, error, silent.",
  ),
  maxManifestBytes: setting(
    integer(1, 64 << 20),
    "MOORAGE_MAX_MANIFEST_BYTES",
    "4194304",
    "Largest manifest accepted, in bytes.",
  ),
  maxLibraryFileBytes: setting(
    integer(1, 2 ** 40),
    "MOORAGE_MAX_LIBRARY_FILE_BYTES",
    "1073741824",
    "Largest file of a library accepted (npm tarball, wheel, jar), in bytes.",
  ),
  upstreamTtlMs: setting(
    duration({ maxMs: 7 * DAY_MS }),
    "MOORAGE_UPSTREAM_TTL",
    "5m",
    "How long what an upstream of libraries says of a package is good before it is asked again.",
  ),
  upstreamTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_UPSTREAM_TIMEOUT",
    "30s",
    "How long an upstream of libraries may take for what it says of a package, and be silent while it sends a file.",
  ),
  upstreamFileTimeoutMs: setting(
    duration({ maxMs: DAY_MS }),
    "MOORAGE_UPSTREAM_FILE_TIMEOUT",
    "10m",
    "How long an upstream of libraries may take for a file.",
  ),
  upstreamMaxDocumentBytes: setting(
    integer(1, 2 ** 28),
    "MOORAGE_UPSTREAM_MAX_DOCUMENT_BYTES",
    "67108864",
    "Largest document of an upstream of libraries that is read, such as all that npm's registry says of a package, in bytes.",
  ),
  maxJsonBytes: setting(
    integer(1, 64 << 20),
    "MOORAGE_MAX_JSON_BYTES",
    "1048576",
    "Largest request body of the platform API, in bytes.",
  ),
  accessTokenTtlMs: setting(
    duration({ min: "1m", maxMs: HOUR_MS }),
    "MOORAGE_ACCESS_TOKEN_TTL",
    "1h",
    "Longest lifetime of a platform token; from 1m to 1h.",
  ),
  registryTokenTtlMs: setting(
    duration({ min: "1m", maxMs: HOUR_MS }),
    "MOORAGE_REGISTRY_TOKEN_TTL",
    "5m",
    "Lifetime of a registry token; from 1m to 1h: clients do not work with shorter ones.",
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
    "Age at which the key that signs tokens is replaced. The old one is accepted for two more hours.",
  ),
  /** Zero when only the command collects garbage. */
  gcIntervalMs: setting(
    orZero(duration({ maxMs: 30 * DAY_MS })),
    "MOORAGE_GC_INTERVAL",
    "1h",
    "How often garbage, content that nothing needs, is removed; 0 leaves that to `moorage gc`.",
  ),
  gcGraceMs: setting(
    duration({ maxMs: 365 * DAY_MS }),
    "MOORAGE_GC_GRACE",
    "24h",
    "How long content is kept after nothing needs it any more.",
  ),
  console: setting(
    flag,
    "MOORAGE_CONSOLE",
    "1",
    "1 serves the web console at `/`. 0 leaves it out: browsers get a page with links to the API.",
  ),
  /** Empty when there is none. */
  commandDir: setting(
    text,
    "MOORAGE_COMMAND_DIR",
    "",
    "Folder with executables of the command, as a release has them (`moorage-linux-x64`, `moorage-linux-arm64`), which the server then hands out at `/cli` beside the files that need Node.",
  ),
  mcp: setting(
    flag,
    "MOORAGE_MCP",
    "1",
    "1 serves MCP for assistants at `/mcp`, where people may let third-party programs sign in. 0 leaves it out.",
  ),
  workPollMs: setting(
    duration({ min: "20ms", maxMs: HOUR_MS }),
    "MOORAGE_WORK_POLL",
    "1s",
    "How often a process looks for background work that it was not woken for: what other processes left to do, what is due at a time, and what a crash left.",
  ),
  catalogImages: setting(
    flag,
    "MOORAGE_CATALOG_IMAGES",
    "1",
    "1 reads from the layers of pushed images which packages they hold, one image at a time in each process.",
  ),
  catalogTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_CATALOG_TIMEOUT",
    "10m",
    "Longest time for reading the layers of one image. The first of three attempts takes a minute at most.",
  ),
  /** Zero when this process has nothing scanned. */
  scanConcurrency: setting(
    integer(0, 100),
    "MOORAGE_SCANS",
    "2",
    "How many images each registered scanner is sent concurrently; with 0 this process sends none.",
  ),
  /** At most the longest lifetime of a token, with which the adapter pulls. */
  scanTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_SCAN_TIMEOUT",
    "30m",
    "How long a scanner may take for an image, and how long the token lives with which it pulls that.",
  ),
  scanRetryMs: setting(
    delays,
    "MOORAGE_SCAN_RETRY",
    "1m,10m,1h",
    "Delays between failed attempts to have an image scanned, comma-separated. After the last attempt the scan has failed.",
  ),
  vexReferrers: setting(
    flag,
    "MOORAGE_VEX_REFERRERS",
    "0",
    "1 attaches to each image that a tag points to what is said about vulnerabilities in it, as an OpenVEX document.",
  ),
  auditRetentionMs: setting(
    duration({ maxMs: 3650 * DAY_MS }),
    "MOORAGE_AUDIT_RETENTION",
    "400d",
    "How long entries of the audit log, and of what policies of libraries block, are kept; at most 3650d.",
  ),
  /** Zero when pulls are not counted. */
  pullsRetentionMs: setting(
    orZero(duration({ min: "2d", maxMs: 3650 * DAY_MS })),
    "MOORAGE_PULLS_RETENTION",
    "400d",
    "How long the statistics of pulls and downloads, of open findings and of what groups take up are kept, by day; from 2d to 3650d. 0 counts none of them, and forgets since when pulls and downloads were counted.",
  ),
  eventsPrefix: setting(domain, "MOORAGE_EVENTS_PREFIX", "dev.moorage", "Prefix of the types of events."),
  /**
   * The minimum is longer than the attempts to deliver an event take by default, so that the event exists until the
   * last one.
   */
  eventsRetentionMs: setting(
    duration({ min: "4d", maxMs: 3650 * DAY_MS }),
    "MOORAGE_EVENTS_RETENTION",
    "30d",
    "How long events, and deliveries that have ended, are kept; from 4d to 3650d. Dead letters and their events are kept for at least 30 days.",
  ),
  eventsRetryMs: setting(
    delays,
    "MOORAGE_EVENTS_RETRY",
    "5s,1m,5m,30m,2h,5h,10h,14h,20h,20h",
    "Delays between failed attempts to deliver an event, comma-separated; each is varied at random by up to a fifth. After the last attempt the delivery is a dead letter.",
  ),
  /** From resolving the sink's host name to the end of the response. */
  eventsTimeoutMs: setting(
    duration({ maxMs: 60_000 }),
    "MOORAGE_EVENTS_TIMEOUT",
    "15s",
    "Longest time that one attempt to deliver an event may take; at most 1m.",
  ),
  /** Zero when this process delivers no events. */
  eventsConcurrency: setting(
    integer(0, 256),
    "MOORAGE_EVENTS_CONCURRENCY",
    "16",
    "Concurrent attempts for one subscription; 0 leaves delivery to other processes.",
  ),
  eventsPulls: setting(flag, "MOORAGE_EVENTS_PULLS", "1", "0 leaves pulls out of the events."),
  /** Zero when this process copies no mirrors. */
  mirrorWorkers: setting(
    integer(0, 64),
    "MOORAGE_MIRROR_WORKERS",
    "2",
    "Repos that one process copies from their sources concurrently; 0 leaves that to other processes.",
  ),
  mirrorSliceMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_MIRROR_SLICE",
    "10s",
    "How long a turn of a mirror may hold its worker while other repos wait; it then goes on later, for twice as long.",
  ),
  /** Empty when there are no terms. */
  termsFile: setting(
    text,
    "MOORAGE_TERMS_FILE",
    "",
    "JSON file with the documents that groups accept: a list of {id, label, url, required}. required is false, true (blocks creating repos, identities and subscriptions, and pushing, until accepted), or a list of what it blocks: API areas such as registry, methods such as CreateRepo, and push.",
  ),
  /** Empty when feeds are set by the command alone. */
  feedsFile: setting(
    text,
    "MOORAGE_FEEDS_FILE",
    "",
    "YAML or JSON file with the feeds of security data that the server keeps: a list of {name, format, address, licence, interval, products}. Read at the start.",
  ),
  /** Empty: presets are fetched from where they are published. */
  feedsMirror: setting(
    text,
    "MOORAGE_FEEDS_MIRROR",
    "",
    "URL below which the feeds that are added by name are fetched, in place of the servers that publish them: each file has its path there.",
  ),
  /** Empty when there is none. */
  javaIndexFile: setting(
    text,
    "MOORAGE_JAVA_INDEX_FILE",
    "",
    "File with what Java archives are that state too little of themselves: a line for each, its SHA-1 and group:artifact:version. At most 64 MiB. Read at the start.",
  ),
  /** Empty when there is none. */
  sigstoreRootFile: setting(
    text,
    "MOORAGE_SIGSTORE_ROOT",
    "",
    "File with the trusted root of Sigstore as JSON: the authorities and logs by which signatures of identities are verified. At most 4 MiB. Read at the start.",
  ),
  /** Empty when there is none. */
  sigstoreTufUrl: setting(
    text,
    "MOORAGE_SIGSTORE_TUF_URL",
    "",
    "URL of a mirror of TUF from which the trusted root of Sigstore is fetched and kept up to date, in place of MOORAGE_SIGSTORE_ROOT. It needs MOORAGE_SIGSTORE_TUF_ROOT.",
  ),
  /** Empty when there is none. */
  sigstoreTufRootFile: setting(
    text,
    "MOORAGE_SIGSTORE_TUF_ROOT",
    "",
    "File with the metadata of TUF's root (root.json) by which what MOORAGE_SIGSTORE_TUF_URL has is verified from the beginning. At most 128 KiB. Read at the start.",
  ),
  revocation: setting(
    choice(REVOCATION),
    "MOORAGE_REVOCATION",
    "off",
    "online asks authorities in the background whether they have revoked certificates of signers with the revocation ONLINE, by OCSP or the lists that the certificates name. off asks nobody, and such signers are rejected.",
  ),
  publicAdvisories: setting(
    flag,
    "MOORAGE_PUBLIC_ADVISORIES",
    "0",
    "1 answers what the feeds say about vulnerabilities and packages without a token; advisories of groups never.",
  ),
  awsStsUrl: setting(
    origin,
    "MOORAGE_AWS_STS_URL",
    "https://sts.amazonaws.com",
    "Amazon's endpoint for the check of an account association.",
  ),
  googleStsUrl: setting(
    origin,
    "MOORAGE_GOOGLE_STS_URL",
    "https://sts.googleapis.com",
    "Google's endpoint for the check of an account association.",
  ),
  azureLoginUrl: setting(
    origin,
    "MOORAGE_AZURE_LOGIN_URL",
    "https://login.microsoftonline.com",
    "Azure's endpoint for the check of an account association.",
  ),
  drainTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_DRAIN_TIMEOUT",
    "10s",
    "How long requests under way may take to complete after SIGTERM.",
  ),
  drainDelayMs: setting(
    orZero(duration({ maxMs: HOUR_MS })),
    "MOORAGE_DRAIN_DELAY",
    "2s",
    "How long requests are still taken after SIGTERM while /readyz already answers 503, so that load balancers send no more; a second signal, or SIGINT, ends it; 0 for none.",
  ),
  /** Empty for SQLite in the data folder. */
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
    "Maximum of connections to PostgreSQL that one process opens, beside one by which it looks for changes.",
  ),
  databaseTimeoutMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_DATABASE_TIMEOUT",
    "30s",
    "Longest time that PostgreSQL may take for one statement, and that a call waits for a connection.",
  ),
  databaseTls: setting(
    orEmpty(choice(DATABASE_TLS)),
    "MOORAGE_DATABASE_TLS",
    "",
    "disable, require (encrypted, without verifying the server's certificate) or verify-full. Default: disable for loopback addresses and sockets, verify-full for others.",
  ),
  databaseTlsCa: setting(
    text,
    "MOORAGE_DATABASE_TLS_CA",
    "",
    "File with the certificate authorities that may issue PostgreSQL's certificate, PEM. Default: the system's.",
  ),
  /** Empty for files in the data folder. */
  blobsUrl: setting(
    text,
    "MOORAGE_BLOBS_URL",
    "",
    "s3://bucket/prefix?endpoint=https://host:port&region=name&style=path; style is path or virtual. Credentials are found as AWS tools find them. Default: files in the data folder.",
  ),
  blobsTimeoutMs: setting(
    duration({ min: "1s", maxMs: HOUR_MS }),
    "MOORAGE_BLOBS_TIMEOUT",
    "5s",
    "How long the S3 server may send nothing before a read is cut and repeated; for writes it is twice, for copies twelve times as long.",
  ),
  blobsRedirect: setting(
    flag,
    "MOORAGE_BLOBS_REDIRECT",
    "0",
    "1 answers a GET of a blob, or of a file of a library, with a redirect to a presigned URL of the S3 server.",
  ),
  /** Zero when the server itself sends blobs. */
  blobsRedirectTtlMs: setting(
    duration({ maxMs: HOUR_MS }),
    "MOORAGE_BLOBS_REDIRECT_TTL",
    "5m",
    "Lifetime of a presigned URL.",
  ),
  /** Empty when the server itself sends its files. */
  blobsInternalPath: setting(
    orEmpty(folderPath),
    "MOORAGE_BLOBS_INTERNAL_PATH",
    "",
    "Path below which the nginx of MOORAGE_TRUSTED_PROXIES has MOORAGE_DATA_DIR/blobs as an internal location, such as /-/blobs/: a GET of more than 64 KiB that comes through it is answered with X-Accel-Redirect, and nginx sends the file. Only with files in the data folder.",
  ),
  /** The first key seals, all open. Empty for the key file of the data folder. */
  secretKeys: setting(
    secretKeys,
    "MOORAGE_SECRET_KEY",
    "",
    "32 bytes in base64 or hex that encrypt secrets in the database. Several, comma-separated: the first encrypts, all decrypt. Default: the file secret.key in the data folder, created at the first start.",
    { secret: true },
  ),
  workers: setting(integer(1, 256), "MOORAGE_WORKERS", "1", "Processes that serve the port together."),
  /** Empty for what suits the output. */
  logFormat: setting(
    orEmpty(choice(LOG_FORMATS)),
    "MOORAGE_LOG_FORMAT",
    "",
    "json, one object per line, or text for people. Default: text on a terminal, json otherwise.",
  ),
  metricsNetworks: setting(
    list,
    "MOORAGE_METRICS_NETWORKS",
    "127.0.0.0/8,::1",
    "Addresses or networks that may read /metrics, comma-separated.",
  ),
  /** Empty when no traces are made. */
  tracesUrl: setting(
    tracesUrl,
    "MOORAGE_TRACES_URL",
    "",
    "Destination of OpenTelemetry traces: the full URL of an OTLP/HTTP receiver, such as http://collector:4318/v1/traces. Default: no traces.",
  ),
  tracesSample: setting(
    share,
    "MOORAGE_TRACES_SAMPLE",
    "1",
    "Share of the requests that are traced, 0 to 1, unless the caller's traceparent decides.",
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
