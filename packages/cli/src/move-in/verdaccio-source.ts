// A verdaccio, read through its API: that of npm, and that of its web pages, which alone lists packages and says which
// of them have versions of an uplink. Source: verdaccio 6, src/api/web and src/api/endpoint.
import { isList, isObject } from "@moorage/kernel/lib/json";
import { type Credentials, tokenIn } from "./authorization.ts";
import { jsonOf, openSource, type SourceClient } from "./client.ts";
import { logIn } from "./login.ts";
import { SourceError } from "./source-error.ts";
import { packagePath } from "./npm-names.ts";
import { type PackageReader, readPackument } from "./packument.ts";

/** A registry of packages that moves in. Everything throws a SourceError. */
export interface PackageSource extends PackageReader {
  origin: string;
  /** What else the registry has, which is not read. */
  leavesBehind: string;
}

const LIST = "/-/verdaccio/data/packages";
const MAX_LIST_BYTES = 256 << 20;
const MAX_LIST_VALUES = 20_000_000;
const MAX_PACKAGES = 100_000;
const MAX_PACKUMENT_BYTES = 32 << 20;
const MAX_TARBALL_BYTES = 256 << 20;
const TARBALL_TIMEOUT_MS = 10 * 60_000;
const WEB_IS_OFF = "its web interface is off (web.enable), which says what comes from an uplink";

export function verdaccioSource(origin: string, credentials: Credentials): PackageSource {
  const client = openSource(origin, credentials);
  let web: Promise<SourceClient> | undefined;
  // The pages want a token of their own.
  const pages = (): Promise<SourceClient> => (web ??= openPages(origin, credentials));
  return {
    origin,
    leavesBehind: "accounts and rights; uplinks, and what was fetched from them; packages without a tag latest",
    async names() {
      const answer = await (await pages()).ask(LIST, { maxBytes: MAX_LIST_BYTES });
      if (answer.status === 404) throw new SourceError(WEB_IS_OFF);
      return namesIn(jsonOf(answer, MAX_LIST_VALUES));
    },
    async uplinksOf(name) {
      const answer = await (await pages()).ask(`/-/verdaccio/data/sidebar/${name}`, { maxBytes: MAX_PACKUMENT_BYTES });
      if (answer.status === 404) throw new SourceError(`is not there, or ${WEB_IS_OFF}`);
      const said = jsonOf(answer);
      const uplinks = isObject(said) ? said["_uplinks"] : undefined;
      if (!isObject(uplinks))
        throw new SourceError("the source does not say which of its versions come from an uplink");
      return Object.keys(uplinks);
    },
    async read(name) {
      const answer = await client.ask(`/${packagePath(name)}`, { maxBytes: MAX_PACKUMENT_BYTES });
      if (answer.status === 404) throw new SourceError("is not there");
      return readPackument(jsonOf(answer), name, { origin, nowMs: Date.now() });
    },
    async tarball(path) {
      const found = await client.chunks(path, {
        accept: "*/*",
        maxBytes: MAX_TARBALL_BYTES,
        timeoutMs: TARBALL_TIMEOUT_MS,
      });
      if (found === undefined) throw new SourceError("its tarball is not there");
      return found;
    },
  };
}

function namesIn(value: unknown): string[] {
  if (!isList(value)) throw new SourceError("the source answers with no list of packages");
  if (value.length > MAX_PACKAGES) throw new SourceError(`the source lists more than ${MAX_PACKAGES} packages`);
  return value.map((each) => (isObject(each) && typeof each["name"] === "string" ? each["name"] : ""));
}

/** A client for what the web pages ask for. */
async function openPages(origin: string, { username, password }: Credentials): Promise<SourceClient> {
  if (username === "") return openSource(origin, { username, password });
  const { status, answer } = await logIn(`${origin}/-/verdaccio/sec/login`, { username, password });
  if (status === 404) throw new SourceError(WEB_IS_OFF);
  const token = status < 300 ? tokenIn(answer) : undefined;
  if (token === undefined) throw new SourceError(`the source does not log ${username} in (${status})`, { status });
  // Sent as a bearer's token.
  return openSource(origin, { username: "$oauthtoken", password: token });
}
