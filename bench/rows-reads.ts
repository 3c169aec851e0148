import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetRepoRequestSchema, ListReposRequestSchema, PingService, ReposService } from "@moorage/api";
import { PLACE } from "./load.ts";
import { api } from "./moorage.ts";
import {
  alone,
  type AloneWork,
  type Bench,
  count,
  get,
  GRPC_HELLO,
  HELLO,
  type Manner,
  overGrpc,
  overHttp,
  type Row,
  type Section,
} from "./rows.ts";
import { SMALL_REPOS } from "./seed-sql.ts";

const PAGE = 50;
// By processor time: the load's core is the limit of hello.
const GET_GOAL = 0.35;
const GRPC_GET_GOAL = 0.5;
const LIST_GOAL = 0.4;
const DEEP_GOAL = 0.9;
// How far into the list the deep pages are, as a share of all repos.
const DEEP = 0.8;
// More pages, and so more repos, than the response cache can hold.
const PAGES = 3_000;
// Skipping nearly a million rows takes seconds on PostgreSQL: one caller only, since all requests in progress at the
// end are waited for.
const SKIP_CALLERS = 1;
const POSTGRES_CONNECTIONS = 10;
// On PostgreSQL no answer is kept, so that a thousand repos are as good as more.
const POSTGRES_PAGES = 20;
export const POSTGRES_GOAL = 0.6;

/** The query of a list, in the fields of ListReposRequest. */
interface ListQuery {
  uidp: { descendantsOf: string };
  pageSize: number;
  pageToken?: string;
  skip?: number;
  name?: string;
}
interface ListAnswer {
  repos: { uid: string; name: string }[];
  nextPageToken: string;
  totalCount: string;
}
type Against = (protocol: "REST" | "gRPC") => NonNullable<Row["against"]>;
type Served = Bench["servers"][number];

/** The message as a REST query. */
function restPath({ uidp, pageSize, pageToken, skip, name }: ListQuery): string {
  const query = new URLSearchParams({ "uidp.descendants_of": uidp.descendantsOf, page_size: String(pageSize) });
  if (pageToken !== undefined) query.set("page_token", pageToken);
  if (skip !== undefined) query.set("skip", String(skip));
  if (name !== undefined) query.set("name", name);
  return `/registry/v2/repos?${query}`;
}

function ask({ moorage }: Served, query: ListQuery): Promise<ListAnswer> {
  return api<ListAnswer>(moorage.platform, "GET", restPath(query));
}

/** The tokens of that many consecutive pages, and the repos on them. */
async function walk(
  served: Served,
  query: ListQuery,
  pages: number,
): Promise<{ queries: ListQuery[]; repos: ListAnswer["repos"] }> {
  const queries: ListQuery[] = [];
  const repos: ListAnswer["repos"] = [];
  let next = query;
  for (let page = 0; page < pages; page += 1) {
    const { nextPageToken, repos: found } = await ask(served, next);
    repos.push(...found);
    if (nextPageToken === "") break;
    next = { uidp: query.uidp, pageSize: query.pageSize, pageToken: nextPageToken };
    queries.push(next);
  }
  return { queries, repos };
}

/** A request, as a path and as a message. */
interface Asked {
  path: string;
  message: Uint8Array;
}

/** The same rows over REST and gRPC; `method` is the service's method. */
function bothProtocols(
  bench: Bench,
  { moorage: { platform } }: Served,
  title: string,
  method: string,
  asked: Asked[],
  against: Against,
  callers?: number,
): Row[] {
  const [first] = asked;
  if (first === undefined) throw new Error(`${title}: nothing to ask`);
  const fileOf = (protocol: string, lines: () => string[]): Manner => {
    if (asked.length === 1) return {};
    const file = join(bench.scratch, `${title} ${protocol}`.replaceAll(/[^a-zA-Z0-9]+/g, "-"));
    writeFileSync(file, lines().join("\n"));
    return { fill: file };
  };
  const manner = { ...(callers !== undefined && { callers }) };
  const rest = fileOf("REST", () => asked.map(({ path }) => path));
  const grpc = fileOf("gRPC", () => asked.map(({ message }) => Buffer.from(message).toString("base64")));
  const authorization = platform.authorization.slice("authorization: ".length).trim();
  return [
    {
      title: `${title}, REST`,
      unit: "/s",
      against: against("REST"),
      measure: overHttp(
        bench,
        platform,
        () => [[get(rest.fill === undefined ? first.path : PLACE, platform.authorization)]],
        { ...manner, ...rest },
      ),
    },
    {
      title: `${title}, gRPC`,
      unit: "/s",
      against: against("gRPC"),
      measure: overGrpc(
        bench,
        platform,
        { path: `/${ReposService.typeName}/${method}`, authorization, message: first.message },
        { ...manner, ...grpc },
      ),
    },
  ];
}

function getRows(bench: Bench, served: Served, title: string, uids: string[]): Row[] {
  const isEmbedded = served.installation.engine === "SQLite";
  const isAlone = !isEmbedded && served === bench.largest;
  const statementAlone = `the statement of ${title}, PostgreSQL's client alone`;
  const asked = uids.map((uid) => ({
    path: `/registry/v2/repos/${uid}`,
    message: toBinary(GetRepoRequestSchema, create(GetRepoRequestSchema, { uid })),
  }));
  const rows = bothProtocols(bench, served, title, "GetRepo", asked, (protocol) => [
    ...(isAlone ? [{ title: statementAlone, ...(protocol === "REST" && { goal: POSTGRES_GOAL }) }] : []),
    protocol === "REST"
      ? { title: HELLO, ...(isEmbedded && { goal: GET_GOAL, byCpu: true }) }
      : { title: GRPC_HELLO, ...(isEmbedded && { goal: GRPC_GET_GOAL }) },
  ]);
  if (!isAlone) return rows;
  const keys = uids.map((uid) => [uid]);
  return [aloneByKeyRow(served, statementAlone, "get", keys), ...rows];
}

function listRows(
  bench: Bench,
  served: Served,
  title: string,
  queries: ListQuery[],
  against: Against = () => [],
  callers?: number,
): Row[] {
  const asked = queries.map((query) => ({
    path: restPath(query),
    message: toBinary(ListReposRequestSchema, create(ListReposRequestSchema, query)),
  }));
  return bothProtocols(bench, served, title, "ListRepos", asked, against, callers);
}

function aloneRow({ installation: { place, engine, repos }, moorage }: Served, title: string, pages: number): Row {
  const ancestor = moorage.organization.uid;
  // The last page may be short.
  const fullPages = Math.floor(repos / PAGE) - 1;
  const work: AloneWork =
    engine === "PostgreSQL"
      ? {
          script: "alone-postgres.ts",
          input: {
            work: "list",
            url: place.env["MOORAGE_DATABASE_URL"] ?? "",
            ancestor,
            connections: POSTGRES_CONNECTIONS,
          },
        }
      : {
          script: "alone.ts",
          input: {
            work: "list",
            database: join(place.dataDir, "moorage.db"),
            ancestor,
            pages: Math.min(pages, fullPages),
          },
        };
  return { title, unit: "/s", measure: alone(work, engine === "PostgreSQL" ? moorage.cpuUs : undefined) };
}

/** PostgreSQL's client alone, which runs the statement of a read for each of the keys in turn. */
export function aloneByKeyRow(
  { installation: { place }, moorage }: Served,
  title: string,
  work: "get" | "manifest",
  keys: string[][],
): Row {
  const input = {
    work,
    url: place.env["MOORAGE_DATABASE_URL"] ?? "",
    ancestor: "",
    connections: POSTGRES_CONNECTIONS,
    keys,
  };
  return { title, unit: "/s", measure: alone({ script: "alone-postgres.ts", input }, moorage.cpuUs) };
}

/** The limits of the runtime, ping, and reads of repos over REST and gRPC at every size. */
export async function readSection(bench: Bench): Promise<Section> {
  const { engine, hello, grpcHello, largest } = bench;
  const ping: Row[] =
    engine === "SQLite"
      ? [
          {
            title: "ping, REST",
            unit: "/s",
            against: [{ title: HELLO }],
            measure: overHttp(bench, largest.moorage, () => [[get("/ping/v2/ping")]]),
          },
          {
            title: "ping, gRPC",
            unit: "/s",
            against: [{ title: GRPC_HELLO }],
            measure: overGrpc(bench, largest.moorage, {
              path: `/${PingService.typeName}/Ping`,
              authorization: "",
              message: new Uint8Array(),
            }),
          },
        ]
      : [];
  const limits: Row[] = [
    { title: HELLO, unit: "/s", measure: overHttp(bench, hello, () => [[get("/")]]) },
    {
      title: GRPC_HELLO,
      unit: "/s",
      measure: overGrpc(bench, grpcHello, { path: "/bench.Hello/Say", authorization: "", message: Buffer.from("hi") }),
    },
  ];
  const sizes: Row[] = [];
  for (const served of bench.servers) sizes.push(...(await sizeRows(bench, served)));
  return { title: `repos, ${engine}`, rows: [...limits, ...ping, ...sizes, ...(await loggedRows(bench))] };
}

async function sizeRows(bench: Bench, served: Served): Promise<Row[]> {
  const {
    moorage: { organization, publicOrganization },
    installation: { repos, engine },
  } = served;
  const isLargest = served === bench.largest;
  const of = `${count(repos)} repos, ${engine}`;
  const list = (title: string): string => `list 50 of ${of}, ${title}`;
  const below: ListQuery = { uidp: { descendantsOf: organization.uid }, pageSize: PAGE };
  const total = Number((await ask(served, below)).totalCount);
  if (total < repos) throw new Error(`the list counts ${total} of ${repos} repos`);
  // Only SQLite has the response cache, and only this size has more repos than fit.
  const isVaried = engine === "SQLite" && repos > PAGES;
  const isLargestPostgres = engine === "PostgreSQL" && isLargest;
  const pages = isVaried ? Math.min(PAGES, Math.floor(repos / PAGE / 2)) : isLargestPostgres ? POSTGRES_PAGES : 2;
  const walked = await walk(served, below, pages);
  const deep = await walk(
    served,
    { ...below, skip: Math.floor(Math.min(repos * DEEP, repos - 2 * PAGE)) },
    isLargest ? pages : 2,
  );
  const small = { ...below, uidp: { descendantsOf: publicOrganization.uid } };
  const skips = Array.from({ length: isVaried ? PAGES : 1 }, (_, index) => ({
    ...below,
    skip: Math.max(0, Math.floor(repos * 0.9) - PAGE - index),
  }));
  const named = (isVaried ? walked.repos : walked.repos.slice(0, 1)).map(({ name }) => ({ ...below, name }));
  const [first, another, deepPage] = [
    "first page again and again",
    "another page each time",
    "deep page again and again",
  ];
  const [aloneFirst, aloneWalk] = [
    `the prepared statement alone, first page of ${of}`,
    `the prepared statement alone, another page each time of ${of}`,
  ];
  const goal = (wanted: number, is = true): { goal?: number } => (is ? { goal: wanted } : {});
  return [
    ...(isVaried || isLargestPostgres
      ? getRows(
          bench,
          served,
          `get another of ${of}`,
          walked.repos.map(({ uid }) => uid),
        )
      : []),
    ...getRows(
      bench,
      served,
      `get the same of ${of}`,
      walked.repos.slice(0, 1).map(({ uid }) => uid),
    ),
    ...(isLargest ? [aloneRow(served, aloneFirst, 1)] : []),
    ...listRows(bench, served, list(first), [below], (protocol) =>
      isLargest ? [{ title: aloneFirst, ...goal(LIST_GOAL, protocol === "REST") }] : [],
    ),
    ...listRows(bench, served, list(deepPage), deep.queries.slice(0, 1), (protocol) => [
      { title: `${list(first)}, ${protocol}`, ...goal(DEEP_GOAL, isLargest) },
    ]),
    ...(isVaried && isLargest
      ? [
          aloneRow(served, aloneWalk, PAGES),
          ...listRows(bench, served, list(another), walked.queries, (protocol) => [
            { title: aloneWalk, ...goal(LIST_GOAL, protocol === "REST") },
          ]),
          ...listRows(bench, served, list(`${another}, deep`), deep.queries, (protocol) => [
            { title: `${list(another)}, ${protocol}`, goal: DEEP_GOAL },
          ]),
        ]
      : []),
    ...listRows(bench, served, list(`skip ${count(skips[0]?.skip ?? 0)}`), skips, () => [], SKIP_CALLERS),
    ...listRows(bench, served, list("filter by name"), named),
    ...(isLargest ? listRows(bench, served, list(`small organization of ${SMALL_REPOS}`), [small]) : []),
  ];
}

/** The cost of the access log, which is off in all other rows. */
async function loggedRows({ logged, ...bench }: Bench): Promise<Row[]> {
  const installation = bench.servers[0]?.installation;
  if (logged === undefined || installation === undefined) return [];
  const {
    repos: [repo],
  } = await ask({ moorage: logged, installation }, { uidp: { descendantsOf: logged.organization.uid }, pageSize: 1 });
  const title = `get the same of ${count(installation.repos)} repos, ${installation.engine}, REST`;
  return [
    {
      title: `${title}, with the access log`,
      unit: "/s",
      against: [{ title }],
      measure: overHttp(bench, logged.platform, () => [
        [get(`/registry/v2/repos/${repo?.uid}`, logged.platform.authorization)],
      ]),
    },
  ];
}
