import { MoorageError } from "../errors.ts";
import { faultIn } from "../lib/storage-fault.ts";
import { StoreError } from "./store.ts";

const DEFAULT_PORT = "5432";
const MAX_CAUSES = 8;

/** Where the database of the URL is, without its password: "db.example:5432 (database moorage, user app)". */
export function placeOf(databaseUrl: string): string {
  const { hostname, port, pathname, username, searchParams } = new URL(databaseUrl);
  const host = searchParams.get("host") ?? (hostname === "" ? "the local socket" : hostname);
  // As the driver chooses them.
  const user = decoded(username) || searchParams.get("user") || process.env["PGUSER"] || process.env["USER"] || "";
  const database = decoded(pathname.slice(1)) || process.env["PGDATABASE"] || user;
  const name = user === "" ? "no user is named" : `user ${user}`;
  return `${host}:${port === "" ? DEFAULT_PORT : port} (database ${database || "not named"}, ${name})`;
}

/**
 * The error of a database that does not do what was asked for, for an operator: with host, port, database, user and
 * cause. Every other error is returned unchanged.
 */
export function locatedError(error: unknown, databaseUrl: string): unknown {
  const fault = faultIn(error);
  if (!(error instanceof MoorageError) || fault?.part !== "database") return error;
  return new StoreError(
    `MOORAGE_DATABASE_URL: ${error.message.replace(/^Unavailable: /, "")}: ${placeOf(databaseUrl)}: ${causeOf(error)}`,
    { cause: error },
  );
}

/** Notes the place in the detail of the fault, which the log shows and answers do not. Returns the same error. */
export function noteLocation(error: unknown, databaseUrl: string): unknown {
  const fault = faultIn(error);
  if (fault?.part === "database" && !(fault.detail ?? "").includes(placeOf(databaseUrl)))
    fault.detail = `${placeOf(databaseUrl)}: ${fault.detail ?? causeOf(error)}`;
  return error;
}

/** What PostgreSQL or the operating system said, and what that means where it is not plain. */
function causeOf(error: unknown): string {
  let last = error;
  for (let depth = 0; depth < MAX_CAUSES && last instanceof Error && last.cause instanceof Error; depth += 1)
    last = last.cause;
  if (last instanceof AggregateError && last.errors[0] instanceof Error) last = last.errors[0];
  if (!(last instanceof Error)) return String(last);
  const code = "code" in last && typeof last.code === "string" ? last.code : "";
  const meaning = MEANINGS.find(([pattern]) => pattern.test(`${code} ${last.message}`))?.[1];
  return meaning === undefined ? last.message : `${last.message} (${meaning})`;
}

const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED /, "nothing listens at this port"],
  [/^ENOTFOUND /, "the host's name is not known"],
  [/^EAI_AGAIN /, "no name server answers"],
  [/^ENOENT /, "there is no such socket"],
  [/^(?:EHOSTUNREACH|ENETUNREACH) /, "no way leads to this host"],
  [/^28P01 /, "the user or the password is wrong"],
  [/^28000 /, "pg_hba.conf does not let this user in from here"],
  [/^3D000 /, "there is no such database"],
  [/does not support SSL/, "MOORAGE_DATABASE_TLS=disable connects without TLS"],
  [/certificate|ERR_TLS/i, "MOORAGE_DATABASE_TLS_CA names the authorities that are trusted"],
  [/Connection terminated unexpectedly/, "the host was reached, and what listens there is silent or is not PostgreSQL"],
  [/^ETIMEDOUT |timeout expired/, "nothing answers: a firewall, or another address"],
];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
