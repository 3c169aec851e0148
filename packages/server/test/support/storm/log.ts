import { gathered } from "./check.ts";
import type { Got } from "./records.ts";
import type { Api, Listener, World } from "./world.ts";

// Compares the log of deliveries with the requests that receivers got.

interface Delivery {
  eventId: string;
  state: string;
  tries?: number;
  attempts?: { status?: number; error?: string }[];
}

const PAGE = 200;
// These answer that they accept the event before they do something else.
const ACCEPTING_MALICE = ["endless", "bomb", "slow-body", "short"];

/**
 * The faults of the log, and its numbers of deliveries and attempts. `all` must hold the records of all requests.
 */
export async function unaccounted(
  api: Api,
  { listeners }: World,
  all: readonly Got[],
): Promise<{ wrong: string[]; deliveries: number; tries: number; interrupted: number }> {
  const found = { wrong: [] as string[], deliveries: 0, tries: 0, interrupted: 0 };
  const requests = gathered(all, ({ at }) => at);
  for (const listener of listeners) {
    const seen = gathered(requests.get(listener.at) ?? [], ({ id }) => id);
    for await (const delivery of deliveriesOf(api, listener)) {
      found.wrong.push(...judge(listener, delivery, seen.get(delivery.eventId) ?? []));
      seen.delete(delivery.eventId);
      found.deliveries += 1;
      found.tries += delivery.tries ?? 0;
      found.interrupted += (delivery.attempts ?? []).filter(({ error }) => error === "interrupted").length;
    }
    for (const id of seen.keys()) found.wrong.push(`${listener.at}: ${id} was sent but is not in the log`);
  }
  return found;
}

async function* deliveriesOf(api: Api, { uid }: Listener): AsyncGenerator<Delivery> {
  for (let token = ""; ;) {
    const query = `uidp.children_of=${uid}&page_size=${PAGE}&order_by=createTime&page_token=${encodeURIComponent(token)}`;
    const { deliveries, nextPageToken } = await api.call<{ deliveries: Delivery[]; nextPageToken: string }>(
      "GET",
      `/events/v2/deliveries?${query}`,
    );
    yield* deliveries;
    if (nextPageToken === "") return;
    token = nextPageToken;
  }
}

function judge(
  { at, takes }: Listener,
  { eventId, state, tries = 0, attempts = [] }: Delivery,
  got: readonly Got[],
): string[] {
  const wrong: string[] = [];
  const unless = (fine: boolean, text: string): void => {
    if (!fine) wrong.push(`${at}: ${eventId}: ${text}`);
  };
  const running = state === "DELIVERY_STATE_SENDING" ? 1 : 0;
  unless(tries === attempts.length + running, `${tries} attempts, ${attempts.length} of them logged, ${state}`);
  unless(got.length <= tries, `${got.length} requests in ${tries} attempts`);
  const unanswered = attempts.filter(({ status = 0 }) => status === 0).length + running;
  for (const [status, same] of gathered(
    got.filter((each) => each.status !== 0),
    (each) => String(each.status),
  )) {
    const logged = attempts.filter((attempt) => attempt.status === Number(status)).length;
    unless(same.length <= logged + unanswered, `${same.length} answers ${status}, ${logged} of them logged`);
  }
  const good = attempts.filter(({ error = "" }) => error === "").length;
  unless(good === (state === "DELIVERY_STATE_DELIVERED" ? 1 : 0), `${good} successful attempts, ${state}`);
  if (takes) unless(state === "DELIVERY_STATE_DELIVERED" && got.length > 0, `${state} after ${got.length} requests`);
  else if (!ACCEPTING_MALICE.includes(at.split("/")[1] ?? ""))
    unless(state !== "DELIVERY_STATE_DELIVERED", "is logged as delivered");
  return wrong;
}
