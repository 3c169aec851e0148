import { createHash } from "node:crypto";
import { join } from "node:path";
import { openIssuer } from "../packages/server/test/support/issuer.ts";
import type { Engine } from "./installations.ts";
import { api, findRepo } from "./moorage.ts";
import { alone, type Bench, count, get, overHttp, post, type Row, type Section } from "./rows.ts";
import { repoName } from "./seed-sql.ts";

const TAGS = 1_000;
const MOVES_GOAL: Record<Engine, number> = { SQLite: 1.5, PostgreSQL: 1.5 };
const TOKENS_GOAL = 6_000;
const TOKEN_TTL_S = 3_600;

/**
 * Tokens and tag updates, on the largest installation. The issuer runs in this process until the function passed to
 * `onClose` is called; the server requests its keys once.
 */
export async function writeSection(bench: Bench, onClose: (close: () => Promise<void>) => void): Promise<Section> {
  const {
    engine,
    largest: { moorage },
  } = bench;
  const { platform, organization, baseUrl } = moorage;
  const issuer = await openIssuer();
  onClose(() => issuer.close());
  const message = { name: "bench", claimMatch: { issuer: issuer.url, subject: "bench" } };
  const { uid: identity } = await api<{ uid: string }>(
    platform,
    "POST",
    `/iam/v2/identities/${organization.uid}`,
    message,
  );
  const nowS = Math.floor(Date.now() / 1000);
  const outside = await issuer.sign({
    iss: issuer.url,
    sub: "bench",
    aud: baseUrl,
    iat: nowS,
    exp: nowS + TOKEN_TTL_S,
  });
  const scope = encodeURIComponent(`repository:${organization.name}/bench:pull`);
  const basic = `authorization: Basic ${Buffer.from(`_token:${platform.authorization.trim().split(" ").at(-1)}`).toString("base64")}\r\n`;
  const exchange = post(
    "/sts/exchange",
    `authorization: Bearer ${outside}\r\n`,
    "application/json",
    JSON.stringify({ aud: [baseUrl], identity }),
  );
  const rows: Row[] = [
    {
      title: `token endpoint, ${engine}`,
      unit: "/s",
      ...(engine === "SQLite" && { least: TOKENS_GOAL }),
      measure: overHttp(bench, moorage, () => [[get(`/token?service=bench&scope=${scope}`, basic)]]),
    },
    {
      title: `exchange of an OpenID token, with a refresh token kept, ${engine}`,
      unit: "/s",
      measure: overHttp(bench, moorage, () => [[exchange]]),
    },
    ...(await moveRows(bench)),
  ];
  return { title: `tokens and tag moves, ${engine}`, rows };
}

async function moveRows(bench: Bench): Promise<Row[]> {
  const {
    engine,
    sizes,
    largest: {
      moorage,
      installation: { place, repos },
    },
  } = bench;
  const repo = await findRepo(moorage, repoName(repos >> 1));
  const title = `one-row durable commits, ${engine} alone, 1 caller`;
  const url = place.env["MOORAGE_DATABASE_URL"];
  return [
    {
      title,
      unit: "/s",
      measure: alone(
        url === undefined
          ? { script: "alone.ts", input: { work: "commit", database: join(place.dataDir, "commits.db") } }
          : { script: "alone-postgres.ts", input: { work: "commit", url, ancestor: "", connections: 1 } },
      ),
    },
    {
      title: `tag moves with history, ${sizes.connections} callers, ${count(TAGS)} tags, ${engine}`,
      unit: "/s",
      against: [{ title, goal: MOVES_GOAL[engine] }],
      measure: overHttp(bench, moorage, (round) =>
        moves(repo, moorage.platform.authorization, sizes.connections, round),
      ),
    },
  ];
}

/** The requests of each caller: it updates its own tags back and forth between two digests that no other round uses. */
export function moves(repo: string, authorization: string, callers: number, round: number): string[][] {
  const digests = ["a", "b"].map((side) => `sha256:${createHash("sha256").update(`${round}/${side}`).digest("hex")}`);
  return Array.from({ length: callers }, (_, caller) =>
    digests.flatMap((digest) => {
      const requests: string[] = [];
      for (let tag = caller; tag < TAGS; tag += callers) {
        requests.push(
          post(
            `/registry/v2/tags/${repo}`,
            authorization,
            "application/json",
            JSON.stringify({ name: `t${tag}`, digest }),
          ),
        );
      }
      return requests;
    }),
  );
}
