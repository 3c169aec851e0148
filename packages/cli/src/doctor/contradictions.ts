import type { Config } from "@moorage/server";
import { type Check, failed, ok, warning } from "./check.ts";

const NAME = "settings";

/** What the settings say that does not go together. */
export function examineSettings(config: Config, isSet: (name: string) => boolean): Check[] {
  const found = rulesOf(config, isSet).filter((check) => check !== undefined);
  return found.length > 0 ? found : [ok(NAME, "no misspelled variable, and nothing that contradicts")];
}

function rulesOf(config: Config, isSet: (name: string) => boolean): (Check | undefined)[] {
  const { baseUrl, databaseUrl, blobsUrl } = config;
  const hasBase = isSet("MOORAGE_BASE_URL");
  const url = hasBase ? new URL(baseUrl) : undefined;
  const hasTls = config.tlsCert !== "";
  const isPublic = url !== undefined && !isLoopback(url.hostname);
  const unused = (name: string, needs: string, isThere: boolean): Check | undefined =>
    isSet(name) && !isThere
      ? warning(NAME, `${name} is set, but not ${needs}: it does nothing`, `set ${needs}`)
      : undefined;
  return [
    unused("MOORAGE_DATABASE_TLS", "MOORAGE_DATABASE_URL", databaseUrl !== ""),
    unused("MOORAGE_DATABASE_TLS_CA", "MOORAGE_DATABASE_URL", databaseUrl !== ""),
    unused("MOORAGE_DATABASE_POOL_SIZE", "MOORAGE_DATABASE_URL", databaseUrl !== ""),
    unused("MOORAGE_BLOBS_REDIRECT", "MOORAGE_BLOBS_URL", blobsUrl !== ""),
    unused("MOORAGE_TRACES_SAMPLE", "MOORAGE_TRACES_URL", config.tracesUrl !== ""),
    ...["MOORAGE_SMTP_FROM", "MOORAGE_SMTP_TLS", "MOORAGE_SMTP_TLS_CA", "MOORAGE_SMTP_PASSWORD_FILE"].map((name) =>
      unused(name, "MOORAGE_SMTP_URL", config.smtpUrl !== ""),
    ),
    config.smtpUrl !== "" && !hasBase
      ? warning(
          NAME,
          `MOORAGE_SMTP_URL is set, but not MOORAGE_BASE_URL: links in mails lead to ${baseUrl}`,
          "set MOORAGE_BASE_URL to what people reach the server by",
        )
      : undefined,
    config.smtpTls === "disable" && !isLoopback(URL.parse(config.smtpUrl)?.hostname ?? "localhost")
      ? warning(
          NAME,
          "MOORAGE_SMTP_TLS=disable: links that let people in go to the mail server in the clear",
          "use smtps:// or STARTTLS",
        )
      : undefined,
    URL.parse(databaseUrl)?.searchParams.has("sslmode") === true
      ? warning(
          NAME,
          "sslmode in MOORAGE_DATABASE_URL does nothing",
          "remove it: MOORAGE_DATABASE_TLS says whether the connection is encrypted and verified",
        )
      : undefined,
    hasTls && url?.protocol === "http:"
      ? failed(NAME, "MOORAGE_TLS_CERT is set, but MOORAGE_BASE_URL is http", "write https in MOORAGE_BASE_URL")
      : undefined,
    !hasTls && url?.protocol === "https:" && config.trustedProxies.length === 0
      ? warning(
          NAME,
          "MOORAGE_BASE_URL is https, and neither MOORAGE_TLS_CERT nor MOORAGE_TRUSTED_PROXIES is set",
          "name the proxy that ends TLS: all its clients count as one otherwise",
        )
      : undefined,
    isPublic && !hasTls && url.protocol === "http:"
      ? warning(NAME, "MOORAGE_BASE_URL is http: passwords and tokens go in the clear", "serve https (docs/deploy.md)")
      : undefined,
    !hasBase && !isLoopback(config.host)
      ? warning(
          NAME,
          "the server listens beyond this machine without MOORAGE_BASE_URL: others can neither sign in nor verify tokens",
          "set MOORAGE_BASE_URL before others use it",
        )
      : undefined,
    isPublic && config.allowPrivateNetwork
      ? warning(
          NAME,
          "MOORAGE_ALLOW_PRIVATE_NETWORK=1 is for development",
          "remove it, unless sinks and issuers are internal",
        )
      : undefined,
    config.eventsRetryMs.reduce((sum, each) => sum + each, 0) > config.eventsRetentionMs
      ? warning(
          NAME,
          "MOORAGE_EVENTS_RETRY takes longer than MOORAGE_EVENTS_RETENTION keeps events",
          "raise the latter",
        )
      : undefined,
    config.gcIntervalMs === 0
      ? warning(NAME, "MOORAGE_GC_INTERVAL=0: no garbage is collected", "run moorage gc regularly")
      : undefined,
  ];
}

/** Whether the host is this machine alone. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host.startsWith("127.") || host === "::1" || host === "[::1]";
}
