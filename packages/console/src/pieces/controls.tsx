import { Plus, Shield, SlidersHorizontal, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { CheckField, SelectField, TextArea, TextField } from "../ui/field.tsx";
import { FilterChip } from "../ui/filter-chip.tsx";
import { LinkButton } from "../ui/link-button.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { Segmented } from "../ui/segments.tsx";
import { SideList } from "../ui/side-list.tsx";
import { tabCount, Tabs } from "../ui/tabs.tsx";
import { TextChip } from "../ui/text-chip.tsx";
import { Toolbar } from "../ui/toolbar.tsx";
import { Piece } from "./piece.tsx";

const LOOKS = ["primary", "plain", "quiet", "danger", "solidDanger"] as const;
const SEVERITIES = [
  ["HIGH", "High or worse"],
  ["MEDIUM", "Medium or worse"],
] as const;
const REGISTRIES = [
  ["npm", "npm"],
  ["pypi", "PyPI"],
  ["maven", "Maven"],
] as const;
const nothing = (): void => {
  // The pieces do nothing here.
};

/** What people press, choose and fill in. */
export function ControlPieces() {
  const [severity, setSeverity] = useState<string | undefined>("HIGH");
  const [method, setMethod] = useState<string>();
  const [fix, setFix] = useState<string>();
  const [registry, setRegistry] = useState<"npm" | "pypi" | "maven">("npm");
  return (
    <>
      <Piece name="Buttons">
        {LOOKS.map((look) => (
          <Button key={look} look={look} icon={<Plus size={16} aria-hidden />}>
            {look}
          </Button>
        ))}
        <Button isSmall>small</Button>
        <Button isBusy>busy</Button>
        <Button look="primary" disabledReason="You need a role that may do it">
          not possible
        </Button>
        <Button look="quiet" aria-label="Delete" icon={<Trash2 size={16} aria-hidden />} />
        <CopyButton text="copied" />
        <LinkButton onClick={nothing}>a button like a link</LinkButton>
      </Piece>
      <Piece name="Copy field">
        <Command text="docker pull registry.example.com/acme/web:2.14.3" prompt="$" />
        <Command text={"first line\nsecond line, which is so long that it has to be scrolled to its end by somebody"} />
      </Piece>
      <Piece name="Fields">
        <TextField label="Name" help="Small letters and digits" defaultValue="web" />
        <TextField label="Name" error="It is taken already." defaultValue="api" />
        <TextField label="Placeholder" placeholder="acme/web" />
        <SelectField label="Role" defaultValue="viewer">
          <option>viewer</option>
          <option>editor</option>
        </SelectField>
        <TextArea label="Patterns" help="One a line" defaultValue={"v[0-9].*\nlatest"} />
        <CheckField label="Pull-through cache" help="Fetches what is not here yet" defaultChecked />
      </Piece>
      <Piece name="Search and filters">
        <Toolbar end={<Segmented label="Registry" value={registry} options={REGISTRIES} onValue={setRegistry} />}>
          <SearchBox label="Find images" placeholder="Name, tag, digest or label" onSearch={nothing} />
          <FilterChip label="Severity" value={severity} options={SEVERITIES} onValue={setSeverity} />
          <TextChip label="Method" value={method} placeholder="registry.push" onText={setMethod} />
          <TextChip label="Wrong" value="?" error="no such identity" onText={nothing} />
          <FilterChip label="Fix" value={fix} options={[["yes", "known"]]} onValue={setFix} />
        </Toolbar>
      </Piece>
      <Piece name="Tabs">
        <Tabs label="Parts">
          <a href="#tags" aria-current="page">
            Tags {tabCount(214)}
          </a>
          <a href="#readme">Readme</a>
        </Tabs>
      </Piece>
      <Piece name="Side list">
        <SideList label="Sections">
          <a href="#general" aria-current="true">
            <SlidersHorizontal size={16} aria-hidden />
            General
          </a>
          <a href="#gate">
            <Shield size={16} aria-hidden />
            Vulnerability gate
          </a>
        </SideList>
      </Piece>
    </>
  );
}
