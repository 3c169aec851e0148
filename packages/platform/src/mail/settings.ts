import { readFileSync } from "node:fs";
import { type Config, settingError, variableOf } from "@moorage/kernel/config";

/** The mail server, and in whose name mail is sent. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** `implicit`: from the first byte; `starttls`: after the server was greeted; `none`: in the clear. */
  tls: "implicit" | "starttls" | "none";
  /** Whether the server's certificate must be good. */
  verifies: boolean;
  /** The authorities that may have issued it, PEM; undefined for the system's. */
  ca: string | undefined;
  /** Undefined where the server asks for no sign-in. */
  login: { user: string; password: string } | undefined;
  from: { name: string; address: string };
  /** How this server names itself to the mail server. */
  greeting: string;
}

/** The settings that are read. */
export type SmtpConfig = Pick<
  Config,
  "smtpUrl" | "smtpPasswordFile" | "smtpFrom" | "smtpTls" | "smtpTlsCa" | "baseUrl"
>;

const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;

/** The mail server of the settings; undefined without one. Throws a ConfigError that names the setting at fault. */
export function smtpOf(config: SmtpConfig): SmtpSettings | undefined {
  const { smtpUrl, smtpFrom, smtpTls, smtpPasswordFile: file } = config;
  if (smtpUrl === "") return undefined;
  if (smtpFrom === undefined) throw settingError("smtpFrom", `must be set where ${variableOf("smtpUrl")} is`);
  const url = new URL(smtpUrl);
  const isImplicit = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isImplicit && smtpTls === "disable")
    throw settingError("smtpTls", `cannot be disable where ${variableOf("smtpUrl")} is smtps://`);
  const mode = smtpTls === "" ? (!isImplicit && isLoopback(host) ? "disable" : "verify-full") : smtpTls;
  const [user, given] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  if (file !== "" && given !== "")
    throw settingError("smtpPasswordFile", `${variableOf("smtpUrl")} has a password already: take it out there`);
  const password = file === "" ? given : readOf("smtpPasswordFile", file).trim();
  if ((user === "") !== (password === ""))
    throw settingError("smtpUrl", user === "" ? "a password needs a user" : "a user needs a password");
  return {
    host,
    port: url.port === "" ? (isImplicit ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(url.port),
    tls: isImplicit ? "implicit" : mode === "disable" ? "none" : "starttls",
    verifies: mode === "verify-full",
    ca: config.smtpTlsCa === "" ? undefined : readOf("smtpTlsCa", config.smtpTlsCa),
    login: user === "" ? undefined : { user, password },
    from: smtpFrom,
    greeting: URL.parse(config.baseUrl)?.hostname ?? "localhost",
  };
}

function readOf(key: "smtpPasswordFile" | "smtpTlsCa", file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw settingError(key, `cannot read ${file}`, { cause });
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.startsWith("127.") || host === "::1";
}
