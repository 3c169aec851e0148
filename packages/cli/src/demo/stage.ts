// The environment of the demo: a fresh server in a temporary folder, an OpenID provider, and the owner's token.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readBootstrap, type Bootstrap } from "@moorage/server";
import { plainEnvironment, startChild, type Stop } from "./child.ts";
import { expect, heading, show } from "./show.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/moorage.js", import.meta.url));
const PROVIDER = fileURLToPath(new URL("./provider.ts", import.meta.url));
const COMMAND_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** What every part of the demo needs. */
export type Stage = {
  /** URL of the server: platform API and registry. */
  readonly url: string;
  /** Issuer URL of the external OpenID provider. */
  readonly issuer: string;
  readonly bootstrap: Bootstrap;
  /** The owner's platform token, as `moorage token` printed it. */
  readonly token: string;
  /** A token for the registry's audience. */
  readonly registryToken: string;
  /** Runs a command of `moorage` on the server's data: what it prints. */
  readonly moorage: (...args: string[]) => Promise<string>;
  /** For files of the demo. */
  readonly folder: string;
};

/** Starts server and provider; the functions that stop them are pushed onto `stops`. */
export async function setStage(folder: string, stops: Stop[]): Promise<Stage> {
  heading("1. A fresh server, and tokens");
  const dataDir = join(folder, "data");
  const serve = {
    script: LAUNCHER,
    args: ["serve", "--port", "0", "--data-dir", dataDir],
    env: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
  };
  const [url, issuer] = await Promise.all([
    startChild(serve, stops),
    startChild({ script: PROVIDER, args: ["0"] }, stops),
  ]);
  show("moorage serve --port 0", url);
  show("an OpenID provider of somebody else", issuer);
  const moorage = async (...args: string[]): Promise<string> => {
    const options = { timeout: COMMAND_TIMEOUT_MS, env: plainEnvironment() };
    const { stdout } = await promisify(execFile)(process.execPath, [LAUNCHER, ...args, "--data-dir", dataDir], options);
    return stdout.trim();
  };
  const token = await moorage("token");
  show("moorage token", `${token.slice(0, 24)}…`);
  const registryToken = await moorage("token", "--audience", "registry");
  show("moorage token --audience registry", `${registryToken.slice(0, 24)}…`);
  return { url, issuer, bootstrap: readBootstrap(dataDir), token, registryToken, moorage, folder };
}

/** A REST call: the status, and the body as JSON (an empty body as {}). `token` is undefined for anonymous calls. */
export async function rest<T>(
  url: string,
  method: string,
  token: string | undefined,
  body?: object,
): Promise<{ status: number; body: T }> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text || "{}") as T };
}

/** A REST call that must succeed. Throws an Error that names the call and the response. */
export async function restOk<T>(url: string, method: string, token: string | undefined, body?: object): Promise<T> {
  const answer = await rest<T>(url, method, token, body);
  expect(
    answer.status === 200,
    `${method} ${new URL(url).pathname} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
  );
  return answer.body;
}
