import { isPurl } from "@moorage/kernel/lib/purls";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  EolTagsService,
  GetPackageVersionMetadataRequestSchema,
  type ListEolTagsRequest,
  ListEolTagsRequestSchema,
  type VersionsService,
} from "@moorage/api/messages";
import { neededFor } from "@moorage/kernel/aip/access";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, sealPageToken, wrongPageToken } from "@moorage/kernel/aip/page-token";
import { validate } from "@moorage/kernel/aip/validate";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { timestamp, wholeMilliseconds } from "@moorage/kernel/lib/timestamps";
import { staleMessage } from "../coverage/messages.ts";
import { staleFeeds } from "../coverage/stale-feeds.ts";
import { eolTags, GRACE_MONTHS } from "./list.ts";
import { isEol, type Product, productById, productByPurl, type Release } from "./products.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const LIST = ListEolTagsRequestSchema.typeName;

/** Tags whose product is past its end of life. */
export function eolTagsService(context: ServiceContext): Service<typeof EolTagsService> {
  const needs = neededFor(EolTagsService.method.listEolTags);
  return {
    async listEolTags(call, request) {
      validate(ListEolTagsRequestSchema, request);
      const { pageSize } = request;
      if (pageSize < 0) throw invalidArgument({ field: "page_size", description: "must not be negative" });
      const page = openPage(context, call.nowMs, request);
      const { uidp, name, asOf } = page?.request ?? request;
      const asOfMs = page?.asOfMs ?? (asOf === undefined ? call.nowMs : wholeMilliseconds(asOf));
      const { tags, last } = await eolTags(call, context, {
        uidp,
        name,
        asOfMs,
        pageSize: Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
        after: page?.after ?? "",
        visible: await call.visible(...needs),
      });
      const stale = await staleFeeds(call.tx, call.nowMs, "ends of life");
      return {
        staleFeeds: stale.map(staleMessage),
        eolTags: tags.map(({ main: { product }, release, graceEndMs, ...tag }) => ({
          ...tag,
          product: product.id,
          release: versionMessage(release, asOfMs),
          ...(graceEndMs === undefined ? {} : { graceExpireTime: timestamp(graceEndMs) }),
          feed: { name: product.feed, licence: product.licence },
        })),
        nextPageToken:
          last === undefined
            ? ""
            : sealPageToken(context.pageTokenKey, {
                list: LIST,
                request: filtersOf(page?.request ?? request),
                position: [last, asOfMs],
                issuedMs: call.nowMs,
              }),
      };
    },
  };
}

/** What feeds say about the versions of products. */
export function versionsService(): Service<typeof VersionsService> {
  return {
    async getPackageVersionMetadata(call, request) {
      validate(GetPackageVersionMetadataRequestSchema, request);
      const { package: wanted } = request;
      const product = isPurl(wanted) ? await productByPurl(call.tx, [wanted]) : await productById(call.tx, wanted);
      if (product === undefined) throw notFound("moorage.registry.v2.PackageVersionMetadata", wanted);
      const stale = await staleFeeds(call.tx, call.nowMs, "ends of life");
      return {
        ...metadataOf(product, call.nowMs),
        staleFeeds: stale.filter(({ feed }) => feed === product.feed).map(staleMessage),
      };
    },
  };
}

function metadataOf(product: Product, nowMs: number): object {
  const { id, feed, licence, updateMs, releases } = product;
  return {
    product: id,
    versions: releases.filter((each) => !isEol(each, nowMs)).map((each) => versionMessage(each, nowMs)),
    eolVersions: releases.filter((each) => isEol(each, nowMs)).map((each) => versionMessage(each, nowMs)),
    latestVersion: releases[0]?.latestVersion ?? "",
    gracePeriodMonths: GRACE_MONTHS,
    ...(updateMs === null ? {} : { updateTime: timestamp(updateMs) }),
    feed: { name: feed, licence },
  };
}

function versionMessage(release: Release, atMs: number): object {
  const { version, eolDate, releaseDate, lts, latestVersion } = release;
  return { version, eolDate, eol: isEol(release, atMs), releaseDate, lts, latestVersion };
}

/** Where a page begins, with the filters of the first page; a request with a token may leave them out. */
function openPage(
  { pageTokenKey }: ServiceContext,
  nowMs: number,
  asked: ListEolTagsRequest,
): { after: string; asOfMs: number; request: ListEolTagsRequest } | undefined {
  if (asked.pageToken === "") return undefined;
  const { list, request, position, issuedMs } = openPageToken(pageTokenKey, asked.pageToken);
  if (nowMs - issuedMs > PAGE_TOKEN_LIFETIME_MS) return undefined;
  if (list !== LIST) throw wrongPageToken("is not a token of this list");
  if (filtersOf(asked) !== "" && filtersOf(asked) !== request)
    throw wrongPageToken("was given for another uidp, name or as_of");
  const [after, asOfMs] = position as [string, number];
  return { after, asOfMs, request: fromBinary(ListEolTagsRequestSchema, Buffer.from(request, "base64")) };
}

/** The filters of a request, in binary and base64; empty without any. */
function filtersOf(request: ListEolTagsRequest): string {
  const copy = { ...request, pageToken: "", pageSize: 0 };
  return Buffer.from(toBinary(ListEolTagsRequestSchema, copy)).toString("base64");
}
