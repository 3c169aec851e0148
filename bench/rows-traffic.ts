import type { Moorage } from "./moorage.ts";
import { type OperationsLoad, stockImages } from "./traffic.ts";
import type { Registry } from "./registries.ts";
import { rested } from "./rows-pull-events.ts";
import { type Bench, type Row, type Section, sampled } from "./rows.ts";

const IMAGES = 200;
const FEW_IMAGES = 40;
const LAYERS = 3;
const LAYER_BYTES = 20 * 1024;
/** How many of a hundred operations are pushes. */
export const PUSH_PERCENTS = [0, 5, 30, 100];
const CLIENTS = [1, 16];
/** How many clients share the cores of a server with several workers. */
export const MANY_CLIENTS = 16;
// The shares at which a goal is held against zot.
const GOAL_PERCENTS = [5, 30];
const GOAL = 2;
/** What PostgreSQL is to reach of the rate on SQLite, at this share. */
const ENGINES = { goal: 0.8, percent: 5 };
/** Images a second that PostgreSQL is to take from many clients that only push. */
const LEAST_PUSHES = 150;
// An operation of a single client may take tens of milliseconds.
const LEAST_MS = 2_000;

/** Pulls and pushes of whole images at the same time. */
export async function mixedSection(bench: Bench): Promise<Section> {
  const { engine, largest, peers, onSqlite } = bench;
  const registries = [...peers, ...(onSqlite ? [onSqlite] : []), largest.moorage];
  const rows = PUSH_PERCENTS.flatMap((percent) =>
    CLIENTS.flatMap((clients) => registries.map((registry) => mixedRow(bench, registry, percent, clients))),
  );
  // What is pushed stays, so that later rows find more: they are measured from both ends.
  return { title: `mixed, ${engine}`, rows, alternates: true };
}

function mixedRow(bench: Bench, registry: Registry, percent: number, clients: number): Row {
  const { engine, loader, peers, largest, onSqlite } = bench;
  const { moorage } = largest;
  const { title } = mixedWhat(percent);
  const nameOf = (one: Registry): string =>
    one === moorage ? `${one.name} on ${engine}` : one === onSqlite ? `${one.name} on SQLite` : one.name;
  const titleFor = (name: string): string => `${title}, ${clients} ${clients === 1 ? "client" : "clients"}, ${name}`;
  return {
    title: titleFor(nameOf(registry)),
    unit: "/s",
    prepare: () => stocked(bench, registry, moorage),
    measure: rested(registry, ({ round, durationMs }) =>
      sampled(registry, () =>
        loader.operations({
          ...loadOf(bench, registry, moorage),
          clients,
          pushPercent: percent,
          name: `mixed-${engine.toLowerCase()}-${percent}-${clients}-${round}`,
          durationMs: Math.max(durationMs, LEAST_MS),
        }),
      ),
    ),
    ...(registry === moorage && {
      ...(onSqlite !== undefined && percent === 100 && clients === MANY_CLIENTS && { least: LEAST_PUSHES }),
      against: [
        ...peers.map(({ name }) => ({
          title: titleFor(name),
          // The disk is shared: what one of them writes slows down whoever writes next.
          ...(engine === "SQLite" && name === "zot" && GOAL_PERCENTS.includes(percent) && { goal: GOAL, byCpu: true }),
        })),
        ...(onSqlite === undefined
          ? []
          : [{ title: titleFor(nameOf(onSqlite)), ...(percent === ENGINES.percent && { goal: ENGINES.goal }) }]),
      ],
    }),
  };
}

/** What the rows of such a share of pushes are called. */
export function mixedWhat(percent: number): { title: string } {
  return { title: `mixed, ${percent}% pushes` };
}

const stocks = new Map<Registry, Promise<void>>();

/** Pushes the images that are pulled, once to each registry. */
export function stocked(bench: Pick<Bench, "sizes">, registry: Registry, moorage: Moorage): Promise<void> {
  const made = stocks.get(registry) ?? stockImages(loadOf(bench, registry, moorage));
  stocks.set(registry, made);
  return made;
}

/** `moorage`: whose organization the repositories are in, also at other registries. */
export function loadOf(
  { sizes }: Pick<Bench, "sizes">,
  { port, authorization }: Registry,
  moorage: Moorage,
): Omit<OperationsLoad, "clients" | "pushPercent" | "name" | "durationMs"> {
  const images = sizes.rounds > 1 ? IMAGES : FEW_IMAGES;
  return {
    port,
    authorization,
    repositories: Array.from({ length: images }, (_, at) => `${moorage.organization.name}/mixed-${at}`),
    layers: LAYERS,
    layerBytes: LAYER_BYTES,
  };
}
