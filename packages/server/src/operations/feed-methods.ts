import { create } from "@bufbuild/protobuf";
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import {
  Capability,
  type CreateFeedRequest,
  type Feed,
  FeedChangeSchema,
  FeedSchema,
  type OperationsService,
} from "@moorage/api/messages";
import { applyMask } from "@moorage/kernel/aip/masks";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition, invalidArgument, notFound } from "@moorage/kernel/errors";
import {
  changeFeed,
  checkedDefinition,
  defineFeeds,
  DEFAULT_FEED_INTERVAL_MS,
  FEED_PRESETS,
  type FeedDefinition,
  FeedDefinitionError,
  feedToChange,
  markForRemoval,
  presetAddress,
  requestFetch,
} from "@moorage/security/security";
import { duration } from "@moorage/kernel/lib/timestamps";
import type { Row } from "@moorage/kernel/store";
import { feedMessage } from "./feeds.ts";
import { requireOperator } from "./operator.ts";

type Methods = Pick<Service<typeof OperationsService>, "createFeed" | "updateFeed" | "deleteFeed" | "refreshFeed">;

/** The methods that change feeds: they write what is wanted, and the job "feeds" fetches and removes. */
export function feedMethods({ installation, allowPrivateNetwork = true }: ServiceContext): Methods {
  const rules = { allowPrivateNetwork };
  const operator = async (call: Call): Promise<string> => {
    await requireOperator(call, installation?.organization, Capability.CAP_OPERATIONS_FEEDS_UPDATE);
    return installation?.organization ?? "";
  };
  return {
    async createFeed(call, request) {
      const organization = await operator(call);
      const feed = definitionOf(wanted(request, installation?.feedsMirror ?? ""), rules);
      if (!request.acceptLicence) requireNothingFetched(feed);
      await defineFeeds(call, { feeds: [feed], origin: "command", mustBeNew: true });
      return emitted(call, organization, "feed.created.v1", await rowOf(call, feed.name));
    },
    async updateFeed(call, { feed: patch = create(FeedSchema), updateMask, acceptLicence }) {
      const organization = await operator(call);
      const before = (await feedToChange(call, patch.name)) ?? missing(patch.name);
      const current = create(FeedSchema, feedMessage(call, before));
      const after = definitionOf(applyMask(FeedSchema, current, patch, updateMask), rules);
      const isElsewhere = after.address !== before.address || after.licence !== before.licence;
      if (isElsewhere && !acceptLicence) requireNothingFetched(after);
      await changeFeed(call, before, after);
      return emitted(call, organization, "feed.updated.v1", await rowOf(call, before.name));
    },
    async deleteFeed(call, { name }) {
      const organization = await operator(call);
      await markForRemoval(call, (await feedToChange(call, name)) ?? missing(name));
      return emitted(call, organization, "feed.deleted.v1", await rowOf(call, name));
    },
    async refreshFeed(call, { name }) {
      await operator(call);
      const feed = (await feedToChange(call, name, { isOfFile: true })) ?? missing(name);
      if (feed.address === "")
        throw failedPrecondition({
          type: "FEED_WITHOUT_ADDRESS",
          subject: name,
          description: `the feed ${name} has no address: it is imported from files`,
        });
      await requestFetch(call, feed);
      return feedMessage(call, await rowOf(call, name));
    },
  };
}

/** The feed that a request describes: what it does not say is as its preset has it. */
function wanted({ feed: given = create(FeedSchema), preset: name }: CreateFeedRequest, mirror: string): Feed {
  if (name === "") return given;
  const preset = FEED_PRESETS.find((each) => each.name === name);
  if (preset === undefined)
    throw invalidArgument({ field: "preset", description: `there is no preset ${name}: ListFeedPresets has them all` });
  for (const field of ["name", "format"] as const)
    if (given[field] !== "" && given[field] !== preset[field])
      throw invalidArgument({ field, description: `is ${preset[field]} with this preset, or empty` });
  return create(FeedSchema, {
    name,
    format: preset.format,
    licence: given.licence || preset.licence,
    address: given.address || presetAddress(preset, mirror),
    interval: given.interval ?? duration(preset.intervalMs),
    products: given.products,
    covers: given.covers,
  });
}

/** Throws INVALID_ARGUMENT with the field that is wrong. */
function definitionOf(feed: Feed, rules: { allowPrivateNetwork: boolean }): FeedDefinition {
  const { name, format, address, licence, interval, products, covers } = feed;
  try {
    const intervalMs = intervalMsOf(interval);
    return checkedDefinition({ name, format, address, licence, products, covers, intervalMs }, rules);
  } catch (error) {
    if (!(error instanceof FeedDefinitionError)) throw error;
    throw invalidArgument({ field: error.field, description: error.problem });
  }
}

const intervalMsOf = (interval: Duration | undefined): number =>
  interval === undefined ? DEFAULT_FEED_INTERVAL_MS : durationMs(interval);

/** Nothing is fetched that nobody wanted: throws FAILED_PRECONDITION with what would be, for a feed with an address. */
function requireNothingFetched({ name, address, licence, intervalMs }: FeedDefinition): void {
  if (address === "") return;
  throw failedPrecondition({
    type: "LICENCE_NOT_ACCEPTED",
    subject: name,
    description: `${name} would be fetched from ${address} every ${intervalMs / 1000}s, under the license "${licence}": set accept_licence if that is wanted`,
  });
}

function missing(name: string): never {
  throw notFound("moorage.operations.v2.Feed", name);
}

async function rowOf({ tx }: Call, name: string): Promise<Row<"feeds">> {
  return await tx.selectFrom("feeds").selectAll().where("name", "=", name).executeTakeFirstOrThrow();
}

/** Emits what became of a feed in the installation's first organization. Returns the feed. */
function emitted(call: Call, organization: string, type: string, row: Row<"feeds">): ReturnType<typeof feedMessage> {
  const { name, format, address, licence } = row;
  call.emit(FeedChangeSchema, {
    type,
    subject: organization,
    group: organization,
    body: { name, format, address, licence, interval: duration(row.interval_ms) },
  });
  return feedMessage(call, row);
}
