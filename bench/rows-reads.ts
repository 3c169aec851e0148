import { join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { GetRepoRequestSchema, ListReposRequestSchema, PingService, ReposService } from "@moorage/api";
import type { Installation } from "./installations.ts";
import type { Moorage } from "./moorage.ts";
import { api } from "./registries.ts";
import { alone, type AloneWork, type Bench, count, get, GRPC_HELLO, HELLO, overGrpc, overHttp, type Row, type Section } from "./rows.ts";
import { repoName, SMALL_REPOS } from "./seed-sql.ts";

const PAGE = 50;
const GET_GOAL = 0.35;
const GRPC_GET_GOAL = 0.5;
const LIST_GOAL = 0.3;
const DEEP_GOAL = 0.9;
// A page this far in, as a share of all repos.
const DEEP = 0.9;
// Passing over rows takes the longer the more there are: few at a time, or the last would be waited for when the time is over.
const SKIP_CALLERS = 4;
const POSTGRES_CONNECTIONS = 10;

/** What a list is asked, in both of its spellings. */
interface Question { title: string; query: MessageInitShape<typeof ListReposRequestSchema>; callers?: number }
interface ListAnswer { repos: { uid: string; name: string }[]; nextPageToken: string; totalCount: string }

function bearer(authorization: string): string {
  return authorization.slice("authorization: ".length).trim();
}

/** The query of the REST door for the message. */
function restPath({ uidp, pageSize, pageToken, skip, name }: Question["query"]): string {
  const query = new URLSearchParams({ "uidp.descendants_of": uidp?.descendantsOf ?? "", page_size: String(pageSize) });
  if (pageToken !== undefined) query.set("page_token", pageToken);
  if (skip !== undefined) query.set("skip", String(skip));
  if (name !== undefined) query.set("name", name);
  return `/registry/v2/repos?${query}`;
}

function aloneWork({ place, engine }: Installation, { organization }: Moorage): AloneWork {
  if (engine === "PostgreSQL") {
    return { script: "alone-postgres.ts", input: { work: "list", url: place.env["MOORAGE_DATABASE_URL"] ?? "", ancestor: organization.uid, connections: POSTGRES_CONNECTIONS } };
  }
  return { script: "alone.ts", input: { work: "list", database: join(place.dataDir, "moorage.db"), ancestor: organization.uid, after: { name: "", uid: "" } } };
}

/** The limits, ping, and reads of repos over both doors at every size. */
export async function readSection(bench: Bench): Promise<Section> {
  const { engine, hello, grpcHello, largest } = bench;
  const isEmbedded = engine === "SQLite";
  const ping: Row[] = isEmbedded ? [
    { title: "ping, REST", unit: "/s", against: [{ title: HELLO }], measure: overHttp(bench, largest.moorage, () => [[get("/ping/v2/ping")]]) },
    { title: "ping, gRPC", unit: "/s", against: [{ title: GRPC_HELLO }], measure: overGrpc(bench, largest.moorage, { path: `/${PingService.typeName}/Ping`, authorization: "", message: new Uint8Array() }) },
  ] : [];
  const limits: Row[] = [
    { title: HELLO, unit: "/s", measure: overHttp(bench, hello, () => [[get("/")]]) },
    { title: GRPC_HELLO, unit: "/s", measure: overGrpc(bench, grpcHello, { path: "/bench.Hello/Say", authorization: "", message: Buffer.from("hi") }) },
  ];
  const sizes = await Promise.all(bench.servers.map(({ moorage, installation }) => sizeRows(bench, moorage, installation)));
  return { title: `repos, ${engine}`, rows: [...limits, ...ping, ...sizes.flat(), ...await loggedRows(bench)] };
}

async function sizeRows(bench: Bench, moorage: Moorage, installation: Installation): Promise<Row[]> {
  const { platform, organization, publicOrganization } = moorage;
  const { repos, engine } = installation;
  const isEmbedded = engine === "SQLite";
  const isLargest = installation === bench.largest.installation;
  const of = `${count(repos)} repos, ${engine}`;
  const below = { uidp: { descendantsOf: organization.uid }, pageSize: PAGE };
  const ask = (query: Question["query"]): Promise<ListAnswer> => api<ListAnswer>(platform, "GET", restPath(query));
  const total = Number((await ask(below)).totalCount);
  if (total < repos) throw new Error(`the list counts ${total} of ${repos} repos`);
  const skip = Math.min(Math.floor(repos * DEEP), repos - PAGE);
  // The page behind this one is full as well, in the smallest installation too.
  const { nextPageToken } = await ask({ ...below, skip: Math.max(0, Math.min(skip, repos - 2 * PAGE)) });
  const name = repoName(repos >> 1);
  const found = await ask({ ...below, name });
  const repo = found.repos[0]?.uid;
  if (repo === undefined || found.totalCount !== "1") throw new Error(`the filter finds ${found.totalCount} repos`);
  const questions: Question[] = [
    { title: "first page", query: below }, { title: "deep page", query: { ...below, pageToken: nextPageToken } },
    { title: `skip ${count(skip)}`, query: { ...below, skip }, callers: SKIP_CALLERS }, { title: "filter by name", query: { ...below, name } },
    ...(isLargest ? [{ title: `small organization of ${SMALL_REPOS}`, query: { ...below, uidp: { descendantsOf: publicOrganization.uid } } }] : []),
  ];
  const grpc = { authorization: bearer(platform.authorization) };
  const aloneTitle = `the prepared statement alone, first page of ${of}`;
  const listRows = questions.flatMap(({ title, query, callers }): Row[] => {
    const name = `list 50 of ${of}, ${title}`;
    const [isFirst, isDeep] = [title === "first page", title === "deep page"];
    const against = (door: string): NonNullable<Row["against"]> => [
      ...(isFirst && isLargest ? [{ title: aloneTitle, ...(door === "REST" && { goal: LIST_GOAL }) }] : []),
      ...(isDeep ? [{ title: `list 50 of ${of}, first page, ${door}`, ...(isLargest && { goal: DEEP_GOAL }) }] : []),
    ];
    return [
      { title: `${name}, REST`, unit: "/s", against: against("REST"), measure: overHttp(bench, platform, () => [[get(restPath(query), platform.authorization)]], callers) },
      {
        title: `${name}, gRPC`, unit: "/s", against: against("gRPC"),
        measure: overGrpc(bench, platform, { ...grpc, path: `/${ReposService.typeName}/ListRepos`, message: toBinary(ListReposRequestSchema, create(ListReposRequestSchema, query)) }, callers),
      },
    ];
  });
  return [
    {
      title: `get, ${of}, REST`, unit: "/s", against: [{ title: HELLO, ...(isEmbedded && { goal: GET_GOAL }) }],
      measure: overHttp(bench, platform, () => [[get(`/registry/v2/repos/${repo}`, platform.authorization)]]),
    },
    {
      title: `get, ${of}, gRPC`, unit: "/s", against: [{ title: GRPC_HELLO, ...(isEmbedded && { goal: GRPC_GET_GOAL }) }],
      measure: overGrpc(bench, platform, { ...grpc, path: `/${ReposService.typeName}/GetRepo`, message: toBinary(GetRepoRequestSchema, create(GetRepoRequestSchema, { uid: repo })) }),
    },
    ...(isLargest ? [{ title: aloneTitle, unit: "/s" as const, measure: alone(aloneWork(installation, moorage)) }] : []),
    ...listRows,
  ];
}

/** What the access log costs, which all other rows go without. */
async function loggedRows({ logged, ...bench }: Bench): Promise<Row[]> {
  const installation = bench.servers[0]?.installation;
  if (logged === undefined || installation === undefined) return [];
  const { repos: [repo] } = await api<ListAnswer>(logged.platform, "GET", restPath({ uidp: { descendantsOf: logged.organization.uid }, pageSize: 1 }));
  const title = `get, ${count(installation.repos)} repos, ${installation.engine}, REST`;
  return [{
    title: `${title}, with the access log`, unit: "/s", against: [{ title }],
    measure: overHttp(bench, logged.platform, () => [[get(`/registry/v2/repos/${repo?.uid}`, logged.platform.authorization)]]),
  }];
}
