import { TOTP, Secret } from "otpauth";
import { type Authenticator, type Changes, createSoftwarePasskey, type Options } from "./authenticator.ts";
import type { Answer, Platform } from "./platform.ts";

/** A browser on a page of the server, with its cookies, that signs in with accounts. */
export interface AccountBrowser {
  /** The origin of its pages: passkeys need a name. */
  origin: string;
  cookies: Map<string, string>;
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** Makes a passkey for what `by` says, and answers the last answer. */
  makePasskey(
    by: { invite?: string; recovery?: string; name?: string; label?: string },
    passkey?: Authenticator,
    changes?: Changes,
  ): Promise<{ answer: Answer; passkey: Authenticator }>;
  /** `state`: of a program's sign-in. */
  signInWith(passkey: Authenticator, changes?: Changes, state?: string): Promise<Answer>;
  /** An access token of its session. */
  token(): Promise<string>;
}

export const PASSWORD = "seven quiet herons wade";

/** `address`: where the browser seems to be, for a server that trusts this machine as a proxy. */
export function openAccountBrowser(platform: Platform, address?: string): AccountBrowser {
  const host = `localhost:${new URL(platform.url).port}`;
  const origin = `http://${host}`;
  const cookies = new Map<string, string>();
  const ask = async (method: string, path: string, body?: object, more: Record<string, string> = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await platform.call(method, path, {
      ...(body !== undefined && { body }),
      headers: {
        host,
        "sec-fetch-site": "same-origin",
        ...(cookie !== "" && { cookie }),
        ...(address !== undefined && { "x-forwarded-for": address }),
        ...more,
      },
    });
    for (const line of answer.headers["set-cookie"] ?? []) {
      const [pair = ""] = line.split(";");
      const cut = pair.indexOf("=");
      cookies.set(pair.slice(0, cut), pair.slice(cut + 1));
    }
    return answer;
  };
  const post: AccountBrowser["post"] = (path, body = {}, headers) => ask("POST", path, body, headers);
  return {
    origin,
    cookies,
    post,
    get: (path) => ask("GET", path),
    async makePasskey({ label, ...by }, passkey = createSoftwarePasskey(), changes = {}) {
      const options = await post("/session/account/passkey/options", by);
      if (options.status !== 200) return { answer: options, passkey };
      const credential = passkey.create(options.body as unknown as Options, origin, changes);
      const answer = await post("/session/account/passkey", { ...by, credential, ...(label && { label }) });
      return { answer, passkey };
    },
    async signInWith(passkey, changes = {}, state) {
      const options = await post("/session/passkey/options");
      if (options.status !== 200) return options;
      const credential = passkey.get(options.body as unknown as Options, origin, changes);
      return post("/session/passkey", { credential, ...(state !== undefined && { state }) });
    },
    async token() {
      return String((await post("/session/token")).body["token"]);
    },
  };
}

/** The code of a new invite to the group, for one person. */
export async function inviteCode(
  platform: Platform,
  group: string,
  role = "viewer",
  fields: object = {},
): Promise<string> {
  const roleUid = await platform.role(role);
  const path = `/iam/v2/groupInvites/${group}`;
  const { code } = await platform.ok("POST", path, { roleUid, ttl: "3600s", singleUse: true, ...fields });
  return String(code);
}

/** Makes an account with an invite and a password. */
export async function newAccount(
  platform: Platform,
  name: string,
  { group = platform.organization, role = "viewer", password = PASSWORD } = {},
): Promise<{ browser: AccountBrowser; identity: string }> {
  const browser = openAccountBrowser(platform);
  const invite = await inviteCode(platform, group, role);
  const answer = await browser.post("/session/account/password", { invite, name, password });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return { browser, identity: String(answer.body["identity"]) };
}

/** What the authenticator app with this secret shows at the time. */
export function appCode(secret: unknown, nowMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(String(secret)) }).generate({ timestamp: nowMs });
}

/** The reason of a failed precondition. */
export function preconditionOf({ body }: Answer): string | undefined {
  return body.details?.find(({ violations }) => violations !== undefined)?.violations?.[0]?.type;
}
