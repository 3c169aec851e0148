import { getRouteApi } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { call } from "../../../api/call.ts";
import { getSbom, type SbomFormat } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { counted } from "../../../lib/bytes.ts";
import { saveFile } from "../../../lib/save-file.ts";
import { Button } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Note } from "../../../ui/note.tsx";
import { Section } from "../../../ui/page.tsx";
import { SearchBox } from "../../../ui/search-box.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { fileName } from "./file-name.ts";
import { type Json, objectOf, objectsOf, textOf } from "./json.ts";
import { sizedLayers } from "./build-steps.ts";
import { inLayer, layerNote } from "./layer-filter.ts";
import type { Chosen } from "./platforms.ts";

const route = getRouteApi("/shell/image");

/** A package as the table has it. */
interface Package {
  id: string;
  name: string;
  version: string;
  purl: string;
  licence: string;
  /** Who says that the image holds it, where several say what it holds. */
  statedBy: string;
  /** The digests of the layers that have it; none where nobody says. */
  layers: readonly string[];
}

/** What an image holds, by its bill of materials. */
export function Packages({ chosen }: { chosen: Chosen }) {
  const { place, digest, manifest } = chosen;
  const { query: text = "", layer } = route.useSearch();
  const navigate = route.useNavigate();
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const sbom = useQuery(query(getSbom, { repoUid: place.repoUid, digest }));
  const all = objectsOf(objectOf(sbom.data?.document)["components"]).map(packageOf);
  const placed = inLayer(all, layer, (each) => each);
  const note = layerNote({
    layer,
    known: manifest && sizedLayers(manifest.json, undefined).map((each) => each.digest),
    unplaced: placed.unplaced,
    word: "package",
  });
  const rows = placed.rows.filter(({ name, purl, licence }) =>
    `${name} ${purl} ${licence}`.toLowerCase().includes(wanted),
  );
  return (
    <Section
      title="Packages"
      actions={
        <>
          <SbomButton chosen={chosen} format="SBOM_FORMAT_CYCLONEDX" label="CycloneDX" />
          <SbomButton chosen={chosen} format="SBOM_FORMAT_SPDX" label="SPDX" />
        </>
      }
    >
      <ErrorNote error={sbom.error} />
      {sbom.isPending && <p role="status">Reading the packages…</p>}
      {sbom.data !== undefined && (
        <>
          <Toolbar
            end={`${counted(all.length, "package")}, as stated by ${sbom.data.sources.map(sourceWords).join(", ")}`}
          >
            <SearchBox
              label="Find packages"
              placeholder="Package, package URL or license"
              value={text}
              onSearch={(letters) =>
                void navigate({
                  search: (before) => ({ ...before, query: letters || undefined }),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          </Toolbar>
          {note !== "" && <Note>{note}</Note>}
          {sbom.data.contradictionsTotal > 0 && (
            <p role="note">
              {`Sources name different versions of ${counted(sbom.data.contradictionsTotal, "package")}; all of them count. The column “Stated by” says who names which.`}
            </p>
          )}
          {rows.length === 0 ? (
            <Empty title={all.length === 0 ? "No packages" : "No package fits"}>
              {all.length === 0
                ? "No packages were found in its layers. You can attach a bill of materials to the image:"
                : layer === undefined
                  ? "Look for a part of the name, the package URL or the license."
                  : "Choose another layer, or look for another name, package URL or license."}
            </Empty>
          ) : (
            <DataTable
              label="Packages"
              rowWord="package"
              rows={rows}
              idOf={({ id }) => id}
              total={rows.length}
              columns={[
                { id: "name", header: "Package", cell: ({ name }) => name },
                { id: "version", header: "Version", cell: ({ version }) => version },
                ...(sbom.data.sources.length > 1
                  ? [{ id: "statedBy", header: "Stated by", cell: ({ statedBy }: Package) => statedBy, isMinor: true }]
                  : []),
                { id: "licence", header: "License", cell: ({ licence }) => licence, isMinor: true },
                { id: "purl", header: "Package URL", cell: ({ purl }) => <code>{purl}</code>, isMinor: true },
              ]}
            />
          )}
        </>
      )}
    </Section>
  );
}

function packageOf(component: Json, at: number): Package {
  const group = textOf(component["group"]);
  const name = textOf(component["name"]);
  const licences = objectsOf(component["licenses"]).map(
    (each) =>
      textOf(each["expression"]) || textOf(objectOf(each["license"])["id"] ?? objectOf(each["license"])["name"]),
  );
  return {
    id: `${at} ${textOf(component["bom-ref"])}`,
    name: group === "" ? name : `${group}/${name}`,
    version: textOf(component["version"]),
    purl: textOf(component["purl"]),
    licence: licences.filter(Boolean).join(", "),
    layers: objectsOf(component["properties"])
      .filter((each) => each["name"] === "moorage:place")
      .map((each) => textOf(each["value"]).split(" ", 1)[0] ?? ""),
    statedBy: objectsOf(component["properties"])
      .filter((each) => each["name"] === "moorage:said-by")
      .map((each) => sourceWords(textOf(each["value"])))
      .join(", "),
  };
}

function sourceWords(source: string): string {
  return source === "layers" ? "the layers" : `the attachment ${source}`;
}

function SbomButton({ chosen, format, label }: { chosen: Chosen; format: SbomFormat; label: string }) {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const save = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      const { repoUid, name } = chosen.place;
      const { document } = await call(getSbom, { repoUid, digest: chosen.digest, format });
      saveFile(fileName(`${name}-${chosen.digest}.${label.toLowerCase()}.json`), "application/json", [
        JSON.stringify(document, null, 2),
      ]);
      setState({ isBusy: false });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <>
      <Button isBusy={state.isBusy} onClick={() => void save()}>
        Download {label}
      </Button>
      <ErrorNote error={state.error} />
    </>
  );
}
