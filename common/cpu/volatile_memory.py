"""Accesses to memory that is declared volatile, for translate.py.

Kernels of before Volta rely on the lanes of a warp to run in step between such accesses, and others wait in them for what
another thread writes. So each access is marked: it is then seen when the program runs.
"""

TYPE_WORDS = frozenset("auto bool char const double float int long short signed unsigned volatile".split())
CASTS = frozenset("const_cast reinterpret_cast static_cast".split())


class VolatileMemory:
    """What a Translator does about the word volatile."""

    def volatile(self, word: int) -> None:
        """Marks the accesses to what the declaration around the word `volatile` declares, or through what it casts to."""
        around = self.parent[word]
        if self.keyword_cast_to_volatile(word):
            return
        if self.token(around) == "(":
            close = self.partner[around]
            if self.cast_to_volatile(word, around, close):
                return
            parts = self.split_at_commas(self.outermost(around + 1, close)) if close is not None else []
            parts = [part[: [*(self.tokens[i] for i in part), "="].index("=")] for part in parts if word in part]
            body = close + 1 if close is not None else word
            if self.token(body) != "{":
                return
            scope, shared = (body, self.partner[body] or body), False
        else:
            first, last = self.declaration(word)
            if last is None or any(self.tokens[index] in ("(", "typedef", "using") for index in range(first, word)):
                return
            plain = [index for index in self.outermost(first, last)]
            storage = {self.tokens[index] for index in plain} & {"__shared__", "__device__", "__managed__"}
            shared = bool(storage)
            parts = self.split_at_commas(plain)
            parts = [part[: [*(self.tokens[i] for i in part), "="].index("=")] for part in parts]
            scope = last, (self.partner[around] or last) if around >= 0 else len(self.tokens)
        for part in parts:
            declared = self.declarator(part)
            pointer = any(self.tokens[index] in ("*", "[") for index in part)
            reference = any(self.tokens[index] == "&" for index in part)
            if declared is None:
                continue
            in_class = self.token(around) == "{" and self.is_class_body(around)
            if in_class and not pointer:
                self.mark_members(self.tokens[declared.name])
            elif pointer or shared or reference:
                own = self.token(around) == "{" and self.in_function(word) and not shared and not in_class
                self.mark_steps(self.tokens[declared.name], *scope, scalar=(shared or reference) and not pointer, form="in_step<true>" if own else "in_step")

    def mark_steps(self, name: str, first: int, last: int, scalar: bool, form: str) -> None:
        """Marks what is accessed through a name between two tokens."""
        for index in range(first, last):
            if self.tokens[index] != name or index in self.stepped:
                continue
            before, two_before = self.token(index - 1), self.token(index - 2)
            if before in (".", "->", "::") or self.is_word(index - 1) or self.is_angle(index - 1):
                continue
            if before in ("*", "&") and two_before in TYPE_WORDS:
                continue  # another variable of this name
            opening = self.parent[index]
            behind_star = before == "*" and not self.ends_operand(index - 2)
            in_star = self.token(opening) == "(" and self.token(opening - 1) == "*" and not self.ends_operand(opening - 2)
            if self.token(index + 1) == "[" or behind_star or in_star or scalar and before != "&":
                self.stepped.add(index)
                self.replace(index, index, f"::cuda_cpu::{form}({name}){self.at(self.end(index))}")

    def exchange(self, caret: int) -> None:
        """Marks the element that sums[i] += sums[i ^ 8] reads, which another lane of the warp changes in this statement: all
        read before one writes."""
        opening = self.parent[caret]
        name = opening - 1
        if self.token(opening) != "[" or not self.is_word(name) or self.token(name - 1) in (".", "->", "::") or name in self.stepped:
            return
        first, _ = self.declaration(name)
        while self.token(first - 1) == "(" and not self.heads_statement(first - 1):
            first, _ = self.declaration(first - 1)
        close = self.partner[first + 1] if self.token(first + 1) == "[" else None
        if close is None or first == name or self.token(first) != self.tokens[name]:
            return
        sign = close + 1 if self.token(close + 1) == "=" else close + 2
        if self.token(sign) == "=" and self.token(sign + 1) != "=" and self.token(close + 1) not in ("!", "["):
            self.stepped.add(name)
            self.insert(self.starts[name], "::cuda_cpu::exchanged(")
            self.append(self.partner[opening] or caret, ")")

    def is_class_body(self, opening: int) -> bool:
        """Whether a { opens a class, whatever stands between its name and that."""
        first, _ = self.declaration(opening)
        words = [self.tokens[index] for index in self.outermost(first, opening)]
        return bool({"class", "struct", "union"} & set(words)) and "(" not in words

    def mark_members(self, name: str) -> None:
        """Marks what stands as x.name or x->name: somebody may wait for it. The whole stays what it is, a place in memory."""
        for index, token in enumerate(self.tokens):
            if token != name or index in self.stepped or self.token(index - 1) not in (".", "->") or self.token(index + 1) in ("(", "["):
                continue
            first = self.kernel_start(index)
            if first is None or first == index or self.token(first) == "this":
                continue
            self.stepped.add(index)
            self.insert(self.starts[first], "(::cuda_cpu::spin(), ")
            self.append(index, ")")

    def cast_to_volatile(self, word: int, opening: int, close: int | None) -> bool:
        """Marks the access through (volatile T*)pointer. Whether it is such a cast."""
        before, last = self.token(opening - 1), self.operand_end(close + 1) if close is not None else None
        if last is None or self.tokens[close - 1] != "*" or self.is_word(opening - 1) or before in (")", "]"):
            return False
        self.mark_pointer(opening, last)
        return True

    def keyword_cast_to_volatile(self, word: int) -> bool:
        """The same for static_cast<volatile T*>(pointer) and its kin."""
        first = word
        while self.token(first).isidentifier() and self.token(first) not in CASTS:
            first -= 1
        if self.token(first) != "<" or self.token(first - 1) not in CASTS:
            return False
        end = first
        while end < first + 12 and self.token(end) != ">":
            end += 1
        last = self.partner[end + 1] if self.token(end) == ">" and self.token(end - 1) == "*" and self.token(end + 1) == "(" else None
        if last is not None:
            self.mark_pointer(first - 1, last)
        return True

    def mark_pointer(self, first: int, last: int) -> None:
        """Marks the tokens of a pointer to volatile memory that is made on the spot."""
        if self.in_function(first) and "/cpu/include/" not in self.position(self.starts[first])[0]:
            self.insert(self.starts[first], "::cuda_cpu::in_step_at(")
            self.append(last, ")")

    def append(self, index: int, text: str) -> None:
        """Notes text to put in behind a token."""
        self.insert(self.end(index), text)

    def operand_end(self, index: int) -> int | None:
        """The last token of the operand that begins at one: signs and casts, a name or (...), and what follows that."""
        while self.token(index) in ("*", "&", "-", "+", "~", "!"):
            index += 1
        if self.token(index) == "(":
            index = self.partner[index]
            if index is not None and (self.is_word(index + 1) or self.token(index + 1) == "("):
                return self.operand_end(index + 1)
        elif not self.is_word(index):
            return None
        while index is not None:
            if self.token(index + 1) in ("(", "["):
                index = self.partner[index + 1]
            elif self.token(index + 1) in (".", "->", "::") and self.is_word(index + 2):
                index += 2
            else:
                return index
        return None
