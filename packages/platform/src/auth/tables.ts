import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    signing_keys: {
      kid: string;
      algorithm: string;
      private_jwk: string;
      public_jwk: string;
      create_time: number;
      retire_time: number | null;
    };
    refresh_tokens: {
      hash: string;
      family: string;
      identity: string;
      caller: string;
      expire_time: number;
      used_time: number | null;
      /** When the first of its family was issued, and when this one was; 0 for those of before they were recorded. */
      create_time: Generated<number>;
      seen_time: Generated<number>;
    };
    /**
     * Sign-ins in progress at a provider. `hash`: SHA-256 of the state; `browser`: SHA-256 of the cookie of the browser
     * that must return; `network`: as networkOf has it. `content` is sealed: the request, and values that must stay
     * secret until then.
     */
    sign_ins: { hash: string; browser: string; network: string; content: string; expire_time: number };
    /**
     * Authorization codes of this issuer, by their SHA-256. `caller`: as in refresh_tokens; `family`: of the refresh
     * tokens that the code gave.
     */
    authorization_codes: {
      hash: string;
      client_id: string;
      redirect_uri: string;
      challenge: string;
      identity: string;
      caller: string;
      family: string;
      used_time: number | null;
      expire_time: number;
    };
    /**
     * Devices that wait for a person's approval, by the SHA-256 of the device code. `request`: what the tokens are
     * limited to, as JSON. `state`: pending, approved, denied or used; identity and caller are empty until it is
     * approved.
     */
    device_codes: {
      hash: string;
      user_code_hash: string;
      client_id: string;
      provider: string;
      request: string;
      address: string;
      network: string;
      user_agent: string;
      state: string;
      identity: string;
      caller: string;
      family: string;
      poll_time: number;
      interval_ms: number;
      expire_time: number;
    };
    /**
     * Browsers that are signed in, by the SHA-256 of their cookie. `caller`: as in refresh_tokens; `network`: as
     * networkOf has it.
     */
    sessions: {
      hash: string;
      identity: string;
      caller: string;
      seen_time: number;
      expire_time: number;
      create_time: number;
      uid: Generated<string>;
      network: Generated<string>;
      user_agent: Generated<string>;
      /** When the person last proved an account in this session; 0 where it began otherwise. */
      account_time: Generated<number>;
    };
    /**
     * Tokens that people made for programs of their own, by the SHA-256 of each. `uid`: below the identity's;
     * `capabilities`: numbers, `scopes`: uids of groups, both as JSON and empty where the token is not narrowed;
     * `hint`: its last characters; `last_used_time`: 0 while it was never used.
     */
    personal_tokens: {
      uid: string;
      hash: string;
      identity: string;
      name: string;
      capabilities: string;
      scopes: string;
      hint: string;
      create_time: number;
      expiration_time: number;
      last_used_time: number;
    };
    /** Links to sign in with, each once, by the SHA-256 of their secret. `caller`: as in refresh_tokens. */
    sign_in_links: { hash: string; identity: string; caller: string; create_time: number; expire_time: number };
    /**
     * Accounts that the installation keeps, of the provider's people and of the owner of the first start. `name`: what
     * the person types, unique at the provider; `handle`: what passkeys call the account; `password`: in the PHC string
     * format, empty for none; `totp`: the secret of the authenticator app, sealed, empty for none; `totp_step`: the
     * last time step whose code was used; `networks`: a JSON list of those from which the person signed in lately.
     */
    accounts: {
      identity: string;
      provider: string;
      name: string;
      handle: string;
      password: string;
      totp: string;
      totp_step: number;
      networks: string;
      create_time: number;
      update_time: number;
    };
    /**
     * Passkeys, by their credential id. `key_id`: a short name in place of that; `public_key`: COSE, base64url;
     * `rp_id`: the host that it was made for; `transports`: a JSON list.
     */
    passkeys: {
      id: string;
      identity: string;
      key_id: string;
      name: string;
      public_key: string;
      sign_count: number;
      rp_id: string;
      transports: string;
      create_time: number;
      used_time: number | null;
    };
    /** Codes in place of one of an authenticator app, each once, by their SHA-256. */
    recovery_codes: { identity: string; hash: string };
    /** Links by which somebody makes a new passkey or password for an account, by the SHA-256 of their secret. */
    recovery_links: { hash: string; identity: string; creator: string; create_time: number; expire_time: number };
    /** Browsers in which somebody has signed in with an account, by the SHA-256 of a cookie. */
    known_browsers: { hash: string; identity: string; create_time: number; expire_time: number };
  }
}

export const AUTH_TABLES = declareTables({
  signing_keys: { key: ["kid"] },
  refresh_tokens: { key: ["hash"] },
  sign_ins: { key: ["hash"] },
  authorization_codes: { key: ["hash"] },
  device_codes: { key: ["hash"] },
  sessions: { key: ["hash"] },
  sign_in_links: { key: ["hash"] },
  personal_tokens: { key: ["uid"] },
  accounts: { key: ["identity"] },
  passkeys: { key: ["id"] },
  recovery_codes: { key: ["identity", "hash"] },
  recovery_links: { key: ["hash"] },
  known_browsers: { key: ["hash"] },
});
