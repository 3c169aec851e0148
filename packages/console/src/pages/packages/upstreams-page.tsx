import { getRouteApi } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { deleteUpstream, type Upstream } from "../../api/gen/libraries.ts";
import { parentUid } from "../../lib/uid.ts";
import { Badge } from "../../ui/badge.tsx";
import { Time } from "../../ui/time.tsx";
import { ResourcePage } from "../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../access/parts/resource.ts";
import { useRows } from "../access/parts/rows.ts";
import { EcosystemChip } from "./ecosystem-chip.tsx";
import { GroupPath } from "./group-path.tsx";
import { upstreamsList } from "./queries.ts";
import styles from "./package.module.css";
import { editUpstreamForm, newUpstreamForm } from "./upstream-forms.ts";
import { ecosystemWord } from "./words.ts";

const route = getRouteApi("/shell/packages/upstreams");

const UPSTREAMS: ResourceSpec<Upstream> = {
  title: "Upstreams",
  noun: "upstream",
  intro:
    "Registries that a group and the groups below it fetch packages from. Each version is fetched once and stored.",
  columns: [
    {
      id: "url",
      header: "Fetches from",
      cell: ({ url, description }) => (
        <div className={styles.cell}>
          <strong>{url}</strong>
          <small>{description}</small>
        </div>
      ),
    },
    {
      id: "ecosystem",
      header: "Registry",
      isMinor: true,
      cell: ({ ecosystem }) => <Badge isName>{ecosystemWord(ecosystem)}</Badge>,
    },
    { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => <GroupPath uid={parentUid(uid)} /> },
    {
      id: "reserved",
      header: "Only from here",
      isMinor: true,
      cell: ({ reservedNames }) => reservedNames.join(", ") || "no name reserved",
    },
    { id: "state", header: "State", cell: (upstream) => <State upstream={upstream} /> },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ url }) => url,
  create: { capability: "CAP_LIBRARIES_UPSTREAMS_CREATE", form: newUpstreamForm },
  edit: { capability: "CAP_LIBRARIES_UPSTREAMS_UPDATE", form: editUpstreamForm },
  remove: {
    capability: "CAP_LIBRARIES_UPSTREAMS_DELETE",
    send: (uid) => call(deleteUpstream, { uid }),
    effect: "Nothing more is fetched through it. Versions that were already fetched stay.",
  },
  empty: {
    title: "No upstreams here",
    text: "With an upstream, npm, pip, and Maven get public packages through this server. Each version is fetched once, stored, and served only if the group's policy allows it.",
    command: "moorage upstreams create acme --ecosystem javascript",
  },
};

/** `/packages/upstreams` */
export function UpstreamsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(upstreamsList(search), ({ upstreams }) => upstreams);
  return (
    <ResourcePage
      spec={UPSTREAMS}
      list={list}
      group={search.group ?? ""}
      order={search.order}
      filters={
        <EcosystemChip
          value={search.ecosystem}
          onValue={(ecosystem) => void navigate({ search: { ...search, ecosystem } })}
        />
      }
    />
  );
}

function State({ upstream: { disabled, lastError, lastErrorTime, lastSuccessTime } }: { upstream: Upstream }) {
  if (disabled) return <Badge>Off</Badge>;
  const isFailing =
    lastErrorTime !== undefined &&
    (lastSuccessTime === undefined || Date.parse(lastErrorTime) > Date.parse(lastSuccessTime));
  if (isFailing)
    return (
      <div className={styles.cell}>
        <span>
          <Badge look="danger">Failing</Badge> <Time value={lastErrorTime} />
        </span>
        <small title={lastError}>{lastError}</small>
      </div>
    );
  if (lastSuccessTime === undefined) return <Badge>Not asked yet</Badge>;
  return (
    <span>
      <Badge look="success">Answers</Badge> <Time value={lastSuccessTime} />
    </span>
  );
}
