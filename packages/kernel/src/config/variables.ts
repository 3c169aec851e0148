import { nearest } from "../lib/near.ts";
import { ConfigError } from "./error.ts";
import { SETTINGS } from "./settings.ts";

/** Variables that are no settings of a server: the command, the credential helpers and what they print read them. */
export const COMMAND_VARIABLES: readonly string[] = [
  "MOORAGE_URL",
  "MOORAGE_TOKEN",
  "MOORAGE_CONTEXT",
  "MOORAGE_OUTPUT",
  "MOORAGE_COMPLETION_MS",
  "MOORAGE_BUNDLE",
  "MOORAGE_IDENTITY",
  "MOORAGE_AUDIENCE",
  "MOORAGE_ID_TOKEN",
  "MOORAGE_ID_TOKEN_FILE",
  "MOORAGE_REGISTRY_HOST",
  "MOORAGE_KEYRING_PASSED",
  "MOORAGE_NPM_TOKEN",
  "MOORAGE_MAVEN_TOKEN",
];

const KNOWN: ReadonlySet<string> = new Set([...SETTINGS.map(({ name }) => name), ...COMMAND_VARIABLES]);
const TESTS = /^MOORAGE_TEST_/;
// What Kubernetes sets in containers for each service of the namespace, as Docker did for links.
const SERVICE = /_SERVICE_(?:HOST|PORT)|_PORT_\d{1,5}_(?:TCP|UDP|SCTP)/;
const SERVICE_URL = /^(?:tcp|udp|sctp):/;

/** A variable that sets nothing, and the names of settings that are near to its own. */
export interface UnknownVariable {
  name: string;
  near: readonly string[];
}

const PREFIX = "MOORAGE_";
const withPrefix = (name: string): string => PREFIX + name;
const withoutPrefix = (name: string): string => name.slice(PREFIX.length);

/** The variables that look like settings and are none. One with an empty value is as good as not there. */
export function unknownVariables(env: Record<string, string | undefined>): UnknownVariable[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith(PREFIX) && value !== undefined && value !== "")
    .filter(([name]) => !KNOWN.has(name) && !TESTS.test(name))
    .filter(([name, value = ""]) => !SERVICE.test(name) && !(name.endsWith("_PORT") && SERVICE_URL.test(value)))
    .map(([name]) => ({ name, near: nearest(withoutPrefix(name), [...KNOWN].map(withoutPrefix)).map(withPrefix) }));
}

/** The variables without those that look like settings and are none, for programs that only read what is there. */
export function knownVariables(env: Record<string, string | undefined>): Record<string, string | undefined> {
  const unknown = new Set(unknownVariables(env).map(({ name }) => name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !unknown.has(name)));
}

/** Throws a ConfigError that names them all. Their values are in no message: one may be a password. */
export function requireKnown(env: Record<string, string | undefined>): void {
  const unknown = unknownVariables(env).map(describeUnknown);
  if (unknown.length > 0) throw new ConfigError(unknown.join("; "));
}

/** The variable and what to write instead, in one line. */
export function describeUnknown({ name, near }: UnknownVariable): string {
  const instead = near.length === 0 ? "moorage serve --help lists all settings" : `did you mean ${near.join(" or ")}?`;
  return `${name}: there is no such setting; ${instead}`;
}
