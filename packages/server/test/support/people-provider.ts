import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { exportJWK } from "jose";
import { Provider } from "oidc-provider";
import { nextRsaKeys } from "./rsa-keys.ts";
import { listenAnew } from "./unused-port.ts";
import type { Platform } from "./platform.ts";

// Where providers write groups besides, and what they write when they leave them out.
const GROUP_CLAIMS = ["groups", "realm_access", "https://example.com/groups", "hasgroups"];

/** A real OpenID provider (oidc-provider) on loopback where people sign in on its own pages. */
export interface PeopleProvider {
  url: string;
  /** Registers a redirect URI of a client; only exactly these are accepted. */
  register(clientId: string, redirectUri: string): void;
  /** The claims of every person who signs in, beside `sub`, which is the login name. */
  claims: Record<string, unknown>;
  /** Handles requests first when set; returns whether it answered. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Replaces the signing key and the published key set. */
  rotate(): Promise<void>;
  /** Stops listening. */
  close(): Promise<void>;
}

// A client needs one from the beginning.
const NOWHERE = "https://nowhere.example.com/";
export const CLIENT = { id: "moorage", secret: "a secret of the provider" };
export const OTHER_CLIENT = { id: "another organization", secret: "another secret" };

/**
 * Its clients are CLIENT and OTHER_CLIENT; people are sent back to the redirect URIs that are registered for them.
 * `groupsByScope`: whether ID tokens name the groups only when the scope `groups` was asked for.
 */
export async function openPeopleProvider({ groupsByScope = true } = {}): Promise<PeopleProvider> {
  const registered = new Set<string>();
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => {
    if (people.intercept?.(request, response) !== true) handle(request, response);
  });
  const url = `http://127.0.0.1:${await listenAnew(server)}`;
  let keys = 0;
  const people: PeopleProvider = {
    url,
    register: (clientId, redirectUri) => void registered.add(`${clientId} ${redirectUri}`),
    claims: {},
    intercept: undefined,
    async rotate() {
      const { privateKey } = nextRsaKeys();
      handle = provider({
        ...(await exportJWK(privateKey)),
        kid: `key-${(keys += 1)}`,
        use: "sig",
        alg: "RS256",
      }).callback();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const provider = (key: object): Provider => {
    const made = new Provider(url, {
      clients: [CLIENT, OTHER_CLIENT].map(({ id, secret }) => ({
        client_id: id,
        client_secret: secret,
        redirect_uris: [NOWHERE],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      })),
      jwks: { keys: [key] },
      cookies: { keys: ["a key of a test"] },
      pkce: { required: () => false },
      conformIdTokenClaims: false,
      scopes: ["openid", "email", "profile", ...(groupsByScope ? ["groups"] : [])],
      claims: {
        openid: ["sub", "oid", "hd", ...(groupsByScope ? [] : GROUP_CLAIMS)],
        email: ["email", "email_verified"],
        profile: ["name", "preferred_username"],
        ...(groupsByScope && { groups: GROUP_CLAIMS }),
      },
      findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...people.claims }) }),
      features: { devInteractions: { enabled: true } },
    });
    Object.assign(made.Client.prototype, {
      redirectUriAllowed(this: { clientId: string }, redirectUri: string): boolean {
        return registered.has(`${this.clientId} ${redirectUri}`);
      },
    });
    return made;
  };
  await people.rotate();
  return people;
}

/**
 * Creates an identity provider of the organization, whose people become viewers there, and registers its redirect URI
 * at the provider. Returns its uid.
 */
export async function addProvider(
  platform: Platform,
  people: Pick<PeopleProvider, "url" | "register">,
  oidc: object = {},
  parent = platform.organization,
): Promise<string> {
  const clientId = (oidc as { clientId?: string }).clientId ?? CLIENT.id;
  const { uid, redirectUri } = await platform.ok("POST", `/iam/v2/identityProviders/${parent}`, {
    name: `people ${randomUUID()}`,
    defaultRole: await platform.role("viewer"),
    oidc: {
      issuer: people.url,
      clientId,
      clientSecret: CLIENT.secret,
      additionalScopes: ["email", "profile"],
      groupsClaim: "groups",
      pkceEnabled: true,
      ...oidc,
    },
  });
  people.register(clientId, String(redirectUri));
  return uid;
}

/** The answer of the token endpoint. */
export interface TokenAnswer<T = Record<string, unknown>> {
  status: number;
  body: T;
}

export async function tokenCall<T = Record<string, unknown>>(
  platform: Platform,
  form: Record<string, string>,
  path = "/sts/token",
): Promise<TokenAnswer<T>> {
  const response = await fetch(`${platform.url}${path}`, { method: "POST", body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as T };
}
