"""Reads names back from what the writers of Pharos have written, with readers that are not part of Pharos.

    python3 Tests/SystemTests/readers.py FOLDER

FOLDER has `names.json`, an array of arrays of code points, and a file for each writer. Only Python's standard library, and PyYAML
where it is installed. Prints a line for each file; ends with 1 if a name is read otherwise than it was written.
"""

import csv
import html.parser
import json
import os
import re
import sys
import xml.etree.ElementTree

FORMULA = re.compile("'*[\"\\s]*[=+\\-@\uff1d\uff0b\uff0d\uff20]")


def read_json(text):
    return json.loads(text)


def read_lines(text):
    """Lines of JSON, each of a log."""
    return [json.loads(line)["metadata"]["name"] for line in text.split("\n") if line]


def read_csv(text):
    rows = list(csv.reader(Lines(text), strict=True))
    names = [row[0] for row in rows]
    assert all(row[1:] == ["1"] for row in rows), "a name became two fields"
    # Some programs begin a field at each semicolon, and one apostrophe before a formula is not part of the name.
    return [";".join(map(read_part, name.split(";"))) for name in names]


def read_part(part):
    assert not FORMULA.match(part) or part[0] == "'", f"a spreadsheet computes {part!r}"
    return part[1:] if FORMULA.match(part) else part


class Lines:
    """The lines of a text with their ends; only a line feed ends one, unlike in str.splitlines."""

    def __init__(self, text):
        self.rest = text

    def __iter__(self):
        return self

    def __next__(self):
        if not self.rest:
            raise StopIteration
        line, mark, self.rest = self.rest.partition("\n")
        return line + mark


class Page(html.parser.HTMLParser):
    """The texts of the paragraphs of a page, their title attributes, and the elements that it has."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.names, self.titles, self.tags = [], [], set()
        self.is_open = False

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "p":
            self.is_open = True
            self.names.append("")
            self.titles.append(dict(attributes)["title"])

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.names[-1] += data


def read_html(text):
    page = Page()
    page.feed(text)
    page.close()
    assert page.tags == {"p"}, f"a name became {page.tags}"
    assert page.names == page.titles, "an attribute differs"
    return page.names


def read_svg(text):
    root = xml.etree.ElementTree.fromstring(text)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


LABELS = re.compile(r'(\w+)="((?:[^"\\\n]|\\.)*)"')


def read_prometheus(text):
    """The format by its specification: lines of `name{label="value",…} number`."""
    names = []
    for line in text.split("\n"):
        if not line.startswith("pharos_observer_up{"):
            assert not line or line.startswith(("#", "pharos_observer_")), line
            continue
        labels, place = {}, line.index("{") + 1
        while (match := LABELS.match(line, place)) is not None:
            labels[match[1]] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), match[2])
            place = match.end() + (line[match.end()] == ",")
        assert re.fullmatch(r"\} [01]", line[place:]), line
        names.append((int(labels["observer"].rpartition("-")[2]), labels["name"]))
    return [name for _, name in sorted(names)]


def read_sse(text):
    """Server-sent events by the HTML standard: lines end with CR, LF or both."""
    names, data = [], []
    for line in re.split("\r\n|\n|\r", text):
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            names.append(json.loads("\n".join(data))["data"]["region"])
            data = []
        else:
            assert field in ("", "event", "id", "retry"), line
    return names


def read_yaml(text):
    import yaml

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read_site(text):
    return [zone["name"] for zone in read_yaml(text)["zones"]]


def read_log(text):
    """The log for people: a line for each name."""
    lines = text.split("\n")[:-1]
    return [re.fullmatch(r".* heard \(name=(.*)\)", line)[1] for line in lines]


READERS = {
    "names.csv": read_csv, "names.html": read_html, "names.svg": read_svg, "names.prom": read_prometheus,
    "names.array.json": read_json, "names.log.jsonl": read_lines, "names.sse": read_sse, "names.yaml": read_yaml,
    "site.yaml": read_site, "names.log": read_log,
}


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "names.json"), encoding="ascii") as file:
        names = ["".join(map(chr, scalars)) for scalars in json.load(file)]
    failed = False
    for file, reader in READERS.items():
        with open(os.path.join(folder, file), "rb") as stream:
            text = stream.read().decode("utf-8")
        try:
            found = reader(text)
        except ModuleNotFoundError as error:
            print(f"{file}: skipped: {error}")
            continue
        except Exception as error:  # pylint: disable=broad-except
            print(f"{file}: {type(error).__name__}: {str(error)[:300]}")
            failed = True
            continue
        # A site has fewer zones than there are names.
        wanted = names[:1000] if file == "site.yaml" else names
        wrong = [(a, b) for a, b in zip(wanted, found) if a != b]
        if wrong or len(found) != len(wanted):
            print(f"{file}: {len(found)} of {len(wanted)} names, {len(wrong)} differ: {ascii(wrong[:3])}")
            failed = True
        else:
            print(f"{file}: {len(found)} names read back")
    sys.exit(failed)


if __name__ == "__main__":
    main()
