import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { History } from "lucide-react";
import buttonStyles from "../../../ui/button.module.css";
import { DigestChip } from "../../../ui/digest-chip.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Note } from "../../../ui/note.tsx";
import { Page } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { SignedBadge } from "../signed-badge.tsx";
import { placeQuery } from "./data.ts";
import { Findings } from "./findings.tsx";
import styles from "./image.module.css";
import { ImageFacts, ImageLayers, PlatformChoice } from "./image-head.tsx";
import { Layers } from "./layers.tsx";
import { Overview } from "./overview.tsx";
import { Packages } from "./packages.tsx";
import { type Chosen, useChosen } from "./platforms.ts";
import { RawManifest } from "./raw-manifest.tsx";
import { Referrers } from "./referrers.tsx";
import { Signatures } from "./signatures/signatures.tsx";

const route = getRouteApi("/shell/image");

const PARTS = [
  ["overview", "Overview"],
  ["layers", "Layers"],
  ["packages", "Packages"],
  ["findings", "Findings"],
  ["signatures", "Signatures"],
  ["referrers", "Referrers"],
  ["manifest", "Manifest"],
] as const;

/** An image: what it is made of, what is wrong with it, and what is attached to it. */
export function ImagePage() {
  const { name } = route.useSearch();
  if (name !== undefined) return <Image name={name} />;
  return (
    <Page title="Image">
      <Empty title="Which image?">
        The address names it: /image?name=acme/app:latest. <a href="/images">Find one</a>.
      </Empty>
    </Page>
  );
}

function Image({ name }: { name: string }) {
  const { data: place } = useSuspenseQuery(placeQuery(name));
  const search = route.useSearch();
  const chosen = useChosen(place, search.platform);
  const part = PARTS.find(([id]) => id === search.part)?.[0] ?? "overview";
  const title = `${place.name}${place.tag === "" ? "" : `:${place.tag}`}`;
  return (
    <Page
      title={<ImageTitle name={place.name} tag={place.tag} />}
      tabTitle={title}
      badges={
        <>
          <DigestChip digest={place.digest} text={`${place.name}@${place.digest}`} />
          <SignedBadge repo={place.name} repoUid={place.repoUid} digest={place.digest} subject="this version" />
        </>
      }
      lede={<ImageFacts chosen={chosen} />}
      actions={
        <>
          <PlatformChoice chosen={chosen} />
          {place.tag !== "" && (
            <a className={buttonStyles.button} href={`/tag?name=${encodeURIComponent(title)}`}>
              <History size={16} aria-hidden />
              Timeline
            </a>
          )}
        </>
      }
      tabs={
        <>
          <ImageLayers chosen={chosen} />
          <Tabs label="Parts of the image">
            {PARTS.map(([id, label]) => (
              <Link
                key={id}
                to="/image"
                search={{
                  name,
                  part: id,
                  ...(search.platform && { platform: search.platform }),
                  ...(search.layer && { layer: search.layer }),
                }}
                aria-current={id === part ? "page" : undefined}
              >
                {label}
              </Link>
            ))}
          </Tabs>
        </>
      }
    >
      {chosen.error !== null && chosen.error !== undefined && (
        <>
          <ErrorNote error={chosen.error} />
          <Note>The manifest could not be read, so platforms, layers, and configuration are missing here.</Note>
        </>
      )}
      <Part part={part} chosen={chosen} />
    </Page>
  );
}

/** The name of the image, and its tag in the color of what the page is about. */
function ImageTitle({ name, tag }: { name: string; tag: string }) {
  if (tag === "") return name;
  return (
    <>
      <span className={styles.prefix}>{name}:</span>
      {tag}
    </>
  );
}

function Part({ part, chosen }: { part: (typeof PARTS)[number][0]; chosen: Chosen }) {
  if (part === "packages") return <Packages chosen={chosen} />;
  if (part === "findings") return <Findings chosen={chosen} />;
  if (part === "signatures") return <Signatures chosen={chosen} />;
  if (part === "referrers") return <Referrers chosen={chosen} />;
  if (chosen.isPending) return <p role="status">Reading the manifest…</p>;
  if (part === "layers") return <Layers chosen={chosen} />;
  if (part === "manifest") return <RawManifest chosen={chosen} />;
  return <Overview chosen={chosen} />;
}
