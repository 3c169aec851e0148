import { useQuery } from "@tanstack/react-query";
import { bytes } from "../../../lib/bytes.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Card, Facts, Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { configQuery } from "./data.ts";
import { type Json, numberOf, objectOf, objectsOf, pairsOf, textOf, textsOf } from "./json.ts";
import { Pairs } from "./pairs.tsx";
import type { Chosen } from "./platforms.ts";
import { TaggedElsewhere } from "./tagged-elsewhere.tsx";

/** What an image is, how it is run, and its labels. */
export function Overview({ chosen }: { chosen: Chosen }) {
  const { manifest, top, place, digest } = chosen;
  const config = useQuery(configQuery(place.name, textOf(objectOf(manifest?.json["config"])["digest"])));
  const json: Json = config.data?.json ?? {};
  const run = objectOf(json["config"]);
  const layers = objectsOf(manifest?.json["layers"]);
  const size = [objectOf(manifest?.json["config"]), ...layers].reduce((sum, each) => sum + numberOf(each["size"]), 0);
  const platform = [json["os"], json["architecture"], json["variant"]].map(textOf).filter(Boolean).join("/");
  return (
    <>
      <Section title="Image">
        <Card>
          <Facts
            facts={[
              ["Digest", <code key="digest">{place.digest}</code>],
              ["Image of the platform", digest === place.digest ? undefined : <code key="image">{digest}</code>],
              ["Media type", top?.mediaType],
              ["Platform", platform],
              ["Size of a pull", manifest && bytes(size)],
              ["Layers", manifest && String(layers.length)],
              ["Created", textOf(json["created"]) && <Time key="made" value={textOf(json["created"])} />],
              ["Author", textOf(json["author"])],
            ]}
          />
        </Card>
      </Section>
      <Section title="How it runs">
        <ErrorNote error={config.error} />
        <Card>
          <Facts
            facts={[
              ["Entrypoint", words(run["Entrypoint"])],
              ["Command", words(run["Cmd"])],
              ["User", config.data && (textOf(run["User"]) || "root, as none is set")],
              ["Working directory", textOf(run["WorkingDir"])],
              ["Ports", Object.keys(objectOf(run["ExposedPorts"])).join(", ")],
              ["Volumes", Object.keys(objectOf(run["Volumes"])).join(", ")],
              ["Stop signal", textOf(run["StopSignal"])],
            ]}
          />
        </Card>
      </Section>
      <Pairs title="Environment" name="Variable" pairs={textsOf(run["Env"]).map(variable)} />
      <Pairs title="Labels" name="Label" pairs={pairsOf(run["Labels"])} />
      <Pairs
        title="Annotations"
        name="Annotation"
        pairs={[
          ...pairsOf(top?.json["annotations"]),
          ...(top === manifest ? [] : pairsOf(manifest?.json["annotations"])),
        ]}
      />
      <TaggedElsewhere place={place} />
    </>
  );
}

function words(value: unknown) {
  const parts = textsOf(value);
  return parts.length === 0 ? undefined : <code>{parts.map(quoted).join(" ")}</code>;
}

/** As one would write it in a shell, where that matters. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : JSON.stringify(text);
}

function variable(text: string): readonly [string, string] {
  const cut = text.indexOf("=");
  return cut < 0 ? [text, ""] : [text.slice(0, cut), text.slice(cut + 1)];
}
