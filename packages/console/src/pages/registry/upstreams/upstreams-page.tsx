import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { call } from "../../../api/call.ts";
import { deleteRegistryUpstream, type RegistryUpstream } from "../../../api/gen/registry.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { Place } from "../../access/parts/place.tsx";
import { ResourcePage } from "../../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../../access/parts/resource.ts";
import { useRows } from "../../access/parts/rows.ts";
import styles from "../kinds/kinds.module.css";
import { syncWord } from "../kinds/sync-words.ts";
import { pollMs, registryUpstreamsList } from "./queries.ts";
import { editUpstreamForm, newUpstreamForm } from "./upstream-forms.tsx";
import { copyFault, followWords, howItAnswers, missingWords, rateWords } from "./upstream-words.ts";

const route = getRouteApi("/shell/images/upstreams");

/** What the list of upstreams and the page of one have in common. */
export const UPSTREAMS: ResourceSpec<RegistryUpstream> = {
  title: "Upstreams",
  noun: "upstream",
  intro:
    "Groups that stand for other registries. What is pulled below them is fetched once, stored, and still served when the registry fails or limits requests.",
  isTall: true,
  columns: [
    {
      id: "registry",
      header: "Registry",
      orderBy: "registry",
      cell: ({ uid, registry, prefix, description }) => (
        <div className={styles.cell}>
          <Link to="/images/upstream" search={{ uid }}>
            <Broken text={prefix === "" ? registry : `${registry}/${prefix}`} />
          </Link>
          <small>{description}</small>
        </div>
      ),
    },
    { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => <Place uid={parentUid(uid)} /> },
    { id: "state", header: "State", cell: (upstream) => <Answers upstream={upstream} /> },
    { id: "rate", header: "Requests left", isWide: true, align: "end", cell: rateWords },
    { id: "follow", header: "Copies", isMinor: true, cell: (upstream) => <Follows upstream={upstream} /> },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ registry }) => registry,
  create: { capability: "CAP_REGISTRY_UPSTREAMS_CREATE", form: newUpstreamForm },
  edit: { capability: "CAP_REGISTRY_UPSTREAMS_UPDATE", form: editUpstreamForm },
  remove: {
    capability: "CAP_REGISTRY_UPSTREAMS_DELETE",
    send: (uid) => call(deleteRegistryUpstream, { uid }),
    effect: "Nothing more is fetched from the registry. Images that came from there stay, and can be pushed to.",
  },
  empty: {
    title: "No upstreams here",
    text: "With an upstream, a group stands for another registry: every image there can be pulled through this server.",
    command: "moorage registry-upstreams create acme/hub --registry docker.io",
  },
};

/** `/images/upstreams` */
export function UpstreamsPage() {
  const search = route.useSearch();
  const list = useRows(
    {
      ...registryUpstreamsList(search),
      refetchInterval: ({ state: { data } }) =>
        pollMs(data?.pages.length === 1 ? data.pages[0]?.registryUpstreams : undefined),
    },
    ({ registryUpstreams }) => registryUpstreams,
  );
  return <ResourcePage spec={UPSTREAMS} list={list} group={search.group ?? ""} order={search.order} />;
}

/** A name that goes on in the next line before a colon and after a slash, where it is too long for one. */
function Broken({ text }: { text: string }) {
  return text.split(/(?<=\/)|(?=:)/).map((part, at) => (
    // The parts of a name do not move.
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

function Answers({ upstream }: { upstream: RegistryUpstream }) {
  const { word, look, time, detail: fault } = howItAnswers(upstream);
  // A registry may answer while what is followed is not here.
  const detail = fault || copyFault(upstream);
  return (
    <div className={styles.cell}>
      <span>
        <Badge look={look}>{word}</Badge> {time !== undefined && <Time value={time} />}
      </span>
      <small title={detail}>{detail}</small>
    </div>
  );
}

function Follows({ upstream }: { upstream: RegistryUpstream }) {
  const { follow, followState, disabled } = upstream;
  if (follow === undefined) return <>only what is pulled</>;
  const [look, word] = syncWord(followState?.state ?? "SYNC_STATE_UNSPECIFIED");
  const missing = missingWords(upstream);
  return (
    <div className={styles.cell}>
      <span>
        {disabled ? <Badge>Off</Badge> : <Badge look={look}>{word}</Badge>} {followWords(upstream)}
      </span>
      <small>{missing === "" ? "" : `Missing: ${missing}`}</small>
    </div>
  );
}
